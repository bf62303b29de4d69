use super::*;

fn folder_of_models() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    // One spin with weights 1 and 3: Z = 4.
    for (name, published) in [("right", 4f64.log10()), ("wrong", 1.0)] {
        let path = folder.path().join(format!("{name}.uai"));
        std::fs::write(&path, "MARKOV 1 2 1 1 0 2 1 3").unwrap();
        std::fs::write(format!("{}.PR", path.display()), format!("PR\n{published}")).unwrap();
    }
    std::fs::write(folder.path().join("listed.uai"), "MARKOV 1 2 1 1 0 2 1 3").unwrap();
    std::fs::write(folder.path().join("reference.csv"), "file,d,exact_lnZ\nlisted.uai,1,1.386294361\n")
        .unwrap();
    std::fs::write(folder.path().join("broken.uai"), "MARKOV 1").unwrap();
    folder
}

fn plan(folder: &tempfile::TempDir) -> Plan {
    Plan {
        folders: vec![folder.path().to_path_buf()],
        generated: false,
        limits: vec![10.0],
        methods: vec![Method::Wmb, Method::Exact],
        python: None,
        store: None,
        settings: Settings::default(),
    }
}

#[test]
fn a_wrong_published_value_is_named_and_a_right_one_is_not() {
    let folder = folder_of_models();
    let suite = run(&plan(&folder), &mut zbound::Silent, &mut |_| {}).unwrap();
    let page = suite.render(Some("profile.svg"), "zbound bench suite models");
    let refuted = page.split("## Published values outside").nth(1).unwrap();
    assert!(refuted.contains("- wrong.uai") && !refuted.contains("- right.uai"), "{page}");
    assert!(page.contains("## Files that were refused\n- broken.uai"), "{page}");
    assert!(page.contains("| . | 10 s | 4 | 3 |") && page.contains("1.3863"), "{page}");
    assert!(page.contains("pyGMs did not take part") && page.contains("(profile.svg)"), "{page}");
}

#[test]
fn auto_is_compared_with_every_method_at_equal_and_at_twice_the_time() {
    let folder = folder_of_models();
    let suite = run(&plan(&folder), &mut zbound::Silent, &mut |_| {}).unwrap();
    let has = |tool, limit| suite.find("right.uai", tool, limit).is_some_and(Entry::is_closed);
    assert!(has("auto", 10.0) && has("exact", 10.0));
    assert!(!has("wmb", 10.0) && !has("auto", 20.0), "nothing is left to gain");
    assert!(
        suite.find("broken.uai", "wmb", 10.0).is_some() && suite.find("broken.uai", "auto", 20.0).is_some()
    );
    assert!(suite.losses().is_empty());
    let mut worse = suite.clone();
    let mut later: Vec<Entry> = worse.entries.iter().filter(|e| e.tool == "auto").cloned().collect();
    later.iter_mut().for_each(|e| e.limit = 20.0);
    worse.entries.retain(|e| e.limit == 10.0);
    worse.entries.extend(later);
    assert!(worse.losses().is_empty());
    worse.entries.iter_mut().filter(|e| e.tool == "auto").for_each(|e| e.upper = e.upper.map(|u| u + 1.0));
    let losses = worse.losses();
    assert_eq!(losses.len(), 6, "three models, equal and twice the time: {losses:?}");
}

#[test]
fn a_profile_counts_every_model_once_per_gap() {
    let folder = folder_of_models();
    let suite = run(&plan(&folder), &mut zbound::Silent, &mut |_| {}).unwrap();
    let auto: Vec<Curve> = suite.profile().into_iter().filter(|c| c.tool == AUTO).collect();
    assert_eq!(auto.len(), profile::GAPS.len());
    for curve in auto {
        assert_eq!(curve.points.iter().map(|p| p.1).collect::<Vec<_>>(), [1, 2, 3]);
        assert!(curve.points.windows(2).all(|p| p[0].0 <= p[1].0));
    }
}

#[test]
fn runs_that_are_kept_are_not_repeated_and_a_torn_line_is() {
    let folder = folder_of_models();
    let kept = tempfile::tempdir().unwrap();
    let file = kept.path().join("runs.jsonl");
    let plan = Plan { store: Some(file.clone()), ..plan(&folder) };
    let count = |plan: &Plan| {
        let mut runs = 0;
        let _ = run(plan, &mut zbound::Silent, &mut |_| runs += 1).unwrap();
        runs
    };
    let all = count(&plan);
    // Two runs for each of three closed models, four for the one that is refused.
    assert_eq!((all, count(&plan)), (10, 0));
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, &text[..text.len() - 9]).unwrap();
    assert_eq!((count(&plan), count(&plan)), (1, 0));
    std::fs::write(&file, "not json\n").unwrap();
    assert!(run(&plan, &mut zbound::Silent, &mut |_| {}).is_err());
}
