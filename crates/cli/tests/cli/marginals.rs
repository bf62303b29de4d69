//! `zbound marginals`: intervals that hold the exact marginals.

use crate::support::{Folder, json, zbound};

#[test]
fn marginals_prints_the_documented_record() {
    let folder = Folder::new();
    let model = folder.complete(6);
    let exact = json(zbound().arg("exact").arg(&model).arg("--json"), 0);
    for method in [&[][..], &["--method", "trw", "--method", "mean-field"]] {
        let record = json(zbound().arg("marginals").arg(&model).args(method).arg("--json"), 0);
        assert_eq!(
            (&record["schema"], &record["status"]),
            (&"zbound.marginals/1".into(), &"converged".into())
        );
        let marginals = record["marginals"].as_array().unwrap();
        assert_eq!(marginals.len(), 6);
        for (i, m) in marginals.iter().enumerate() {
            let p = exact["results"][0]["marginals"][i].as_f64().unwrap();
            let (low, high) = (m["lower"].as_f64().unwrap(), m["upper"].as_f64().unwrap());
            assert_eq!(m["variable"], i);
            assert!(low <= p && p <= high, "{low} {p} {high}");
            assert!(!method.is_empty() || high - low < 1e-9);
        }
    }
}

#[test]
fn marginals_prints_text_and_refuses_bad_options() {
    let folder = Folder::new();
    let pair = folder.pair();
    let output = zbound().arg("marginals").arg(&pair).args(["--spin", "1"]).assert().success();
    let text = String::from_utf8(output.get_output().stdout.clone()).unwrap();
    assert!(
        text.contains("<= P(x_1 = +1) <=") && !text.contains("P(x_0") && text.contains("exact"),
        "{text}"
    );
    let both = zbound().arg("marginals").arg(&pair).args(["--variables", "1,0"]).output().unwrap();
    let text = String::from_utf8(both.stdout).unwrap();
    assert!(text.contains("P(x_0 = +1)") && text.contains("P(x_1 = +1)"), "{text}");
    zbound().arg("marginals").arg(&pair).args(["--spin", "2"]).assert().code(2);
    zbound().arg("marginals").arg(&pair).args(["--eps", "0"]).assert().code(2);
    let hurried = json(zbound().arg("marginals").arg(&pair).args(["--time-limit", "0", "--json"]), 0);
    assert_eq!((&hurried["status"], &hurried["marginals"][0]["upper"]), (&"time-limit".into(), &1.0.into()));
}

#[test]
fn marginals_of_pairs_and_of_given_states() {
    let folder = Folder::new();
    // Weights 1 2 / 3 4 / 5 6 of (x_0, x_1), three states and two.
    let uai = folder.write("m.uai", "MARKOV\n2\n3 2\n1\n2 0 1\n6\n1 2 3 4 5 6\n");
    let record = json(zbound().arg("marginals").arg(&uai).args(["--pairs", "0,1", "1,0", "--json"]), 0);
    assert!(record["marginals"].as_array().unwrap().is_empty());
    let cell = |pair: usize, s: usize, t: usize| {
        let ends = &record["pairs"][pair]["table"][s][t];
        (ends[0].as_f64().unwrap(), ends[1].as_f64().unwrap())
    };
    for s in 0..3 {
        for t in 0..2 {
            let p = (2 * s + t + 1) as f64 / 21.0;
            for (low, high) in [cell(0, s, t), cell(1, t, s)] {
                assert!(low <= p && p <= high && high - low < 1e-12, "{s} {t}: {low} {p} {high}");
            }
        }
    }
    let record = json(zbound().arg("marginals").arg(&uai).args(["--given", "1=0", "--json"]), 0);
    assert_eq!(record["evidence"], serde_json::json!([[1, 0]]));
    let law = record["marginals"][0]["states"].as_array().unwrap();
    for (ends, p) in law.iter().zip([1.0 / 9.0, 3.0 / 9.0, 5.0 / 9.0]) {
        assert!(ends[0].as_f64().unwrap() <= p && p <= ends[1].as_f64().unwrap());
    }
    assert!(record["marginals"][0]["lower"].is_null() && record["marginals"][1]["upper"] == 0.0);
    let text = zbound().arg("marginals").arg(&uai).args(["--pairs", "0,1"]).assert().success();
    let text = String::from_utf8(text.get_output().stdout.clone()).unwrap();
    assert!(text.contains("<= P(x_0 = 2, x_1 = 1) <= 0.2857"), "{text}");
    for bad in
        [["--pairs", "0,0"], ["--pairs", "0,7"], ["--pairs", "0"], ["--given", "0=3"], ["--given", "x=1"]]
    {
        zbound().arg("marginals").arg(&uai).args(bad).assert().code(2);
    }
}

#[test]
fn samples_are_rows_of_states() {
    let folder = Folder::new();
    let pair = folder.pair();
    let output = zbound().arg("sample").arg(&pair).args(["--n", "20", "--seed", "3"]).assert().success();
    let text = String::from_utf8(output.get_output().stdout.clone()).unwrap();
    let is_spin = |word: &str| word == "1" || word == "-1";
    assert!(text.lines().count() == 20 && text.split_whitespace().all(is_spin), "{text}");
    let record = json(zbound().arg("sample").arg(&pair).args(["--n", "20", "--seed", "3", "--json"]), 0);
    assert_eq!((&record["schema"], &record["sampler"]), (&"zbound.sample/1".into(), &"exact".into()));
    assert_eq!(record["samples"].as_array().unwrap().len(), 20);
    let first: Vec<i64> = text.lines().next().unwrap().split(' ').map(|w| w.parse().unwrap()).collect();
    assert_eq!(record["samples"][0], serde_json::json!(first));
    let hurried = json(zbound().arg("sample").arg(&pair).args(["--memory-limit", "8", "--json"]), 0);
    assert_eq!(hurried["sampler"], "annealed");
    zbound().arg("sample").arg(&pair).args(["--n", "99999999999"]).assert().code(2);
}

#[test]
fn one_ranking_can_add_several_greedy_features() {
    let folder = Folder::new();
    let model = folder.complete(5);
    let args = ["--method", "quantum-greedy", "--greedy", "4", "--json"];
    let one = json(zbound().arg("bound").arg(&model).args(args), 0);
    let two = json(zbound().arg("bound").arg(&model).args(args).args(["--greedy-batch", "2"]), 0);
    let steps = |r: &serde_json::Value| r["results"][0]["steps"].as_array().unwrap().clone();
    assert_eq!(
        (steps(&one).len(), steps(&one)[0]["feature"].clone()),
        (4, steps(&two)[0]["feature"].clone())
    );
    assert_eq!(steps(&two).len(), 4);
    let exact = json(zbound().arg("exact").arg(&model).arg("--json"), 0);
    let phi = exact["results"][0]["phi"]["lower"].as_f64().unwrap();
    assert!(two["results"][0]["phi"]["upper"].as_f64().unwrap() >= phi);
    zbound().arg("bound").arg(&model).args(["--greedy-batch", "0"]).assert().code(2);
}
