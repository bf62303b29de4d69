//! zbound
