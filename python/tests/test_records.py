"""The JSON documents of the command follow the published schemas in docs/schema."""

import json
import subprocess
from pathlib import Path

import pytest
import zbound as zb
from conftest import need

ROOT = Path(__file__).parents[2]
SCHEMAS = ROOT / "docs" / "schema"
GLASS, SPRINKLER = str(ROOT / "examples" / "glass12.json"), str(ROOT / "examples" / "sprinkler.uai")

COMMANDS = [
    ("zbound.bound", ["bound", GLASS, "--method", "all", "--time-limit", "5", "--json"]),
    ("zbound.bound", ["bound", GLASS, "--method", "quantum-greedy", "--pair-moments", "--states", "--json"]),
    ("zbound.bound", ["exact", SPRINKLER, "--json"]),
    ("zbound.map", ["map", GLASS, "--json"]),
    ("zbound.kl", ["kl", GLASS, "--greedy", "1", "--json"]),
    ("zbound.marginals", ["marginals", GLASS, "--json"]),
    ("zbound.marginals", ["marginals", SPRINKLER, "--pairs", "0,1", "--json"]),
    ("zbound.scan", ["scan", GLASS, "--betas", "0:2:5", "--json"]),
    ("zbound.sample", ["sample", GLASS, "--n", "3", "--seed", "1", "--json"]),
    ("zbound.info", ["info", GLASS, "--json"]),
    ("zbound.info", ["info", SPRINKLER, "--json"]),
]


def program():
    path = ROOT / "target" / "release" / "zbound"
    if not path.exists():
        pytest.skip("the command is not built: cargo build --release -p zbound-cli")
    return path


def commands():
    text = subprocess.run([str(program()), "--help"], capture_output=True, text=True, check=True).stdout
    return {line.split()[0] for line in text.splitlines() if line.startswith("  ") and line.strip()}


@pytest.mark.parametrize("name, arguments", COMMANDS, ids=lambda value: value[0] if isinstance(value, list) else value)
def test_documents_follow_their_schema(name, arguments):
    jsonschema = need("jsonschema")
    if arguments[0] not in commands():
        pytest.skip(f"this build has no command {arguments[0]}")
    schema = json.loads((SCHEMAS / f"{name}.json").read_text())
    run = subprocess.run([str(program()), *arguments], capture_output=True, text=True)
    assert run.returncode in (0, 1), run.stderr
    validator = jsonschema.Draft202012Validator(schema)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator.validate(json.loads(run.stdout))
    # A schema that lets everything pass would be worth nothing.
    assert not validator.is_valid({"schema": name})


def test_every_key_of_a_document_is_described():
    need("jsonschema")
    for name, arguments in COMMANDS:
        if arguments[0] not in commands():
            continue
        schema = json.loads((SCHEMAS / f"{name}.json").read_text())
        document = json.loads(subprocess.run([str(program()), *arguments], capture_output=True, text=True).stdout)
        assert set(document) <= set(schema["properties"]), name


def test_every_answer_is_a_table():
    need("pandas")
    model = zb.Ising([0.1, -0.2, 0.3], [[0, 0.5, 0], [0, 0, -0.4], [0, 0, 0]])
    exact = zb.exact(model)
    row = exact.to_pandas().iloc[0]
    assert (row["log_z_lower"], row["log_z_upper"]) == (exact.log_z.lower, exact.log_z.upper)
    best = zb.map(model)
    assert best.to_pandas().iloc[0]["upper"] == best.upper
    laws = zb.marginal_intervals(model).to_pandas()
    assert list(laws.columns) == ["variable", "state", "lower", "upper"] and len(laws) == 6
    assert zb.sample(model, 5, seed=1).to_pandas().shape == (5, 3)
    assert zb.kl(model).to_pandas().iloc[0]["kl_lower"] >= 0
