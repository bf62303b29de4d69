# The project's commands; each is one line you can also type yourself.

# Every test in the fast lane, Rust and Python.
test:
    scripts/test.sh

# The same with large random counts, dependency audit and ten minutes of fuzzing a target.
test-all:
    scripts/test.sh --full

# The reference documentation.
doc:
    cargo doc --release --no-deps --open

# Format everything.
fmt:
    cargo fmt

# The guide, as HTML in target/guide.
guide:
    scripts/guide.sh

# What is published, made and tried: crates, wheel, static binary.
package:
    scripts/package.sh
