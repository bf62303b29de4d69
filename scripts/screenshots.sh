#!/bin/sh
# Pictures of the page that `zbound bound --report` writes, narrow and wide, light and dark, by a real browser.
# Usage: scripts/screenshots.sh [DIR]; prints "skipped" and succeeds where there is no Chromium.
set -eu
cd "$(dirname "$0")/.."
out=${1:-target/screenshots}
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
if [ -z "$browser" ]; then
    echo "skipped: no Chromium"
    exit 0
fi
mkdir -p "$out"
profile=$(mktemp -d)
trap 'rm -rf "$profile"' EXIT
zbound=target/release/zbound
[ -x "$zbound" ] || cargo build --release -p zbound-cli
"$zbound" bound examples/glass40.json --time-limit 4 --report "$out/bound.html" --certificate "$out/bound.zbc" > /dev/null || true
"$zbound" bound examples/glass12.json --method all --report "$out/all.html" > /dev/null || true
shoot() { # page, width, height, light or dark
    dark=""
    [ "$4" = dark ] && dark="--force-dark-mode --blink-settings=preferredColorScheme=0"
    # Words of $dark are options.
    # shellcheck disable=SC2086
    "$browser" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
        --disable-component-update --disable-sync --hide-scrollbars --user-data-dir="$profile" $dark \
        --window-size="$2,$3" --screenshot="$out/$1-$2-$4.png" "file://$(realpath "$out")/$1.html" > /dev/null 2>&1
    test -s "$out/$1-$2-$4.png"
}
for page in bound all; do
    # A window is never narrower than 500 px, a frame in it may be.
    printf '<body style="margin:0"><iframe src="%s.html" width="400" height="2600" style="border:0"></iframe></body>' \
        "$page" > "$out/narrow-$page.html"
    for scheme in light dark; do
        shoot "narrow-$page" 500 2600 "$scheme"
        shoot "$page" 1400 1500 "$scheme"
    done
done
echo "8 pictures in $out"
