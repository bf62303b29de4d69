//! UAI evidence files: `k v x v x ...` (2014), `S` then S lines of it (2010, the first counts), `k` then one pair a line (2006).

use crate::require;

/// Pairs of variable and state, sorted; `states` are the numbers of states of the model's variables.
pub(crate) fn read(text: &str, states: &[usize]) -> Result<Vec<(usize, usize)>, String> {
    let text = text.trim_start_matches('\u{feff}');
    let lines: Vec<Vec<&str>> = text
        .lines()
        .map(|line| line.split_ascii_whitespace().collect::<Vec<_>>())
        .filter(|tokens| !tokens.is_empty())
        .collect();
    let Some(first) = lines.first() else { return Ok(Vec::new()) };
    let whole =
        |token: &str| token.parse::<usize>().map_err(|_| format!("expected a whole number, found `{token}`"));
    let count = whole(first[0])?;
    // A line of its own after a lone number, with an odd number of tokens, is a sample of the dialect of 2010.
    let samples = first.len() == 1 && count > 0 && lines.get(1).is_some_and(|l| l.len() % 2 == 1);
    let (count, tokens): (usize, Vec<&str>) = if samples {
        require(lines.len() > count, "there are fewer samples than announced")?;
        require((lines[1].len() - 1) / 2 == whole(lines[1][0])?, "a sample has another length than it says")?;
        (whole(lines[1][0])?, lines[1][1..].to_vec())
    } else {
        (count, lines.concat()[1..].to_vec())
    };
    require(tokens.len() / 2 >= count, "there are fewer pairs than announced")?;
    let mut pairs = Vec::new();
    for pair in tokens.chunks_exact(2).take(count) {
        let (i, state) = (whole(pair[0])?, whole(pair[1])?);
        let known = states.get(i).is_some_and(|q| state < *q);
        require(known, &format!("variable {i} in state {state} is not of this model"))?;
        pairs.push((i, state));
    }
    pairs.sort_unstable();
    pairs.dedup();
    require(pairs.windows(2).all(|w| w[0].0 != w[1].0), "a variable has two states")?;
    Ok(pairs)
}
