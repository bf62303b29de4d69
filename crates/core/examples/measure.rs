//! Lower bounds of a model file by one method.
use zbound::run::{BoundRequest, MethodChoice, bound};
use zbound::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let secs: f64 = a[2].parse().unwrap();
    for p in &a[3..] {
        let m = io::read(std::path::Path::new(p), &Default::default()).unwrap();
        let s = Settings::default().with_time_limit(if secs > 0.0 { Some(secs) } else { None });
        if a[1] == "map" {
            let r = query::map::map(
                &m,
                &query::map::MapRequest { settings: s, ..Default::default() },
                &mut Silent,
            )
            .unwrap();
            println!("{p} value {:?} upper {:?} {:.2}s", r.record.value, r.record.upper, r.record.seconds);
            continue;
        }
        let mut q = BoundRequest::default();
        q.methods = MethodChoice::List(vec![a[1].parse().unwrap()]);
        q.settings = s;
        let r = bound(&m, &q, &mut Silent).unwrap();
        let x = &r.record.results[0];
        println!("{p} lower {:?} {:?} {:?} {:.2}s", x.log_z.lower, x.status, x.reason, x.seconds);
    }
}
