//! The store suite over the store in memory.

use surefill_conformance::store::MemoryFixture;

surefill_conformance::store_suite!(MemoryFixture);
