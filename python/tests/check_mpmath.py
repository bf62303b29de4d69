"""A second, slow checker: spectral certificates with n <= 40, by multiple-precision eigenvalues.

    python check_mpmath.py MODEL.json CERT

It recomputes the eigenvalues of the stored matrix with 60 digits instead of trusting stored ones, so
it shares not even the method of the other two checkers. Exit 0: the claimed upper bound holds.
"""

import json
import struct
import sys

import mpmath

mpmath.mp.dps = 60


def read_certificate(path):
    raw = open(path, "rb").read()
    magic, header, floats = raw.split(b"\n", 2)
    if magic not in (b"zbound-certificate 1", b"zbound-certificate 2"):
        sys.exit("not a certificate of format 1")
    return json.loads(header), list(struct.unpack(f"<{len(floats) // 8}d", floats))


def read_model(path):
    """The polynomial as {frozenset: value}; floats are exact in mpmath."""
    model = json.load(open(path))
    f = {frozenset(): mpmath.mpf(model.get("constant", 0.0))}
    for i, h in enumerate(model.get("fields", [])):
        f[frozenset([i])] = mpmath.mpf(h)
    for i, j, v in model.get("couplings", []):
        f[frozenset([i, j])] = mpmath.mpf(v)
    for members, v in model.get("terms", []):
        f[frozenset(members)] = mpmath.mpf(v)
    return f


def spectral_bound(f, header, floats):
    (component,) = header["components"]
    if component["form"] != "spectral" or header["cuts"] or header["squares"] or header["evidence"]:
        sys.exit("only a single spectral component without slack or evidence is checked here")
    d, eps = header["d"], mpmath.mpf(header["eps"])
    features = component["features"]
    sets = [frozenset(s) for s in ([[]] + [[i] for i in range(d)] if features is None else features)]
    n = len(sets)
    if n > 40 or len(set(sets)) != n:
        sys.exit("too many features, or repeated ones")
    matrix = mpmath.matrix(n, n)
    packed = iter(floats[1:])  # floats[0] is the weight
    for j in range(n):
        for i in range(j + 1):
            matrix[i, j] = matrix[j, i] = mpmath.mpf(next(packed))
    delta = dict(f)
    for i in range(n):
        for j in range(n):
            key = sets[i] ^ sets[j]
            delta[key] = delta.get(key, mpmath.mpf(0)) - matrix[i, j]
    defect = delta.pop(frozenset(), mpmath.mpf(0)) + sum(abs(v) for v in delta.values())
    values = mpmath.eigsy(matrix, eigvals_only=True)
    top = max(values)
    if eps == 0:
        return n * top + defect
    return n * top + eps * mpmath.log(sum(mpmath.exp(n * (v - top) / eps) for v in values) / n) + defect


def main():
    model, certificate = sys.argv[1:]
    header, floats = read_certificate(certificate)
    proved = spectral_bound(read_model(model), header, floats)
    claimed = header["phi_upper"]
    # 1e-40 relative is far above the error of 60-digit eigenvalues.
    margin = mpmath.mpf(10) ** -40 * (1 + abs(proved))
    if not proved + margin <= claimed:
        sys.exit(f"phi_upper {claimed!r} is claimed, {mpmath.nstr(proved, 25)} is proved")
    print(json.dumps({"verified": True, "eps": header["eps"], "phi_upper": claimed}))


if __name__ == "__main__":
    main()
