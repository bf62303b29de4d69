//! States per second of enumeration, log Z only: `enumeration_speed [D [THREADS]]`.

fn main() -> zbound::Result<()> {
    let arguments: Vec<usize> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let d = arguments.first().copied().unwrap_or(24);
    let threads = arguments.get(1).copied().unwrap_or(1);
    let speed = zbound::exact::enumerate::throughput(d, threads)?;
    println!("d = {d}, {threads} threads: {:.3e} states/s, {:.3e} per thread", speed, speed / threads as f64);
    assert!(speed > 0.0);
    Ok(())
}
