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
    zbound().arg("marginals").arg(&pair).args(["--spin", "2"]).assert().code(2);
    zbound().arg("marginals").arg(&pair).args(["--eps", "0"]).assert().code(2);
    let hurried = json(zbound().arg("marginals").arg(&pair).args(["--time-limit", "0", "--json"]), 0);
    assert_eq!((&hurried["status"], &hurried["marginals"][0]["upper"]), (&"time-limit".into(), &1.0.into()));
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
