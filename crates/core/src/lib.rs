//! The contract of surefill.
