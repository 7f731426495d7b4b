//! The store suite.

use crate::fixture::SqliteFixture;

surefill_conformance::store_suite!(SqliteFixture);
