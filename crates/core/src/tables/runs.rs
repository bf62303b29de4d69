//! Loops over runs of a length that is known when they are compiled: short runs need no call.

/// Successive entries from each start, N at a time.
pub(crate) fn copy_runs<const N: usize>(starts: &[u32], source: &[f64], chunk: &mut [f64]) {
    for (&start, out) in starts.iter().zip(chunk.as_chunks_mut::<N>().0) {
        if let Some(run) = source[start as usize..].first_chunk::<N>() {
            *out = *run;
        }
    }
}

/// The entry at each start, N times.
pub(crate) fn spread_runs<const N: usize>(starts: &[u32], source: &[f64], chunk: &mut [f64]) {
    for (&start, out) in starts.iter().zip(chunk.as_chunks_mut::<N>().0) {
        *out = [source[start as usize]; N];
    }
}

/// Adds successive entries at each start, N at a time.
pub(crate) fn add_runs<const N: usize>(starts: &[u32], entries: &[f64], table: &mut [f64]) {
    for (&start, run) in starts.iter().zip(entries.as_chunks::<N>().0) {
        if let Some(target) = table[start as usize..].first_chunk_mut::<N>() {
            (0..N).for_each(|k| target[k] += run[k]);
        }
    }
}

/// Adds N entries at a time to the one at each start.
pub(crate) fn collect_runs<const N: usize>(starts: &[u32], entries: &[f64], table: &mut [f64]) {
    for (&start, run) in starts.iter().zip(entries.as_chunks::<N>().0) {
        table[start as usize] += run.iter().sum::<f64>();
    }
}
