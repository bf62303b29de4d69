//! Random models of the families in the paper, from a portable seeded generator.
