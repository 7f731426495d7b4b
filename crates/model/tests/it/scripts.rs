//! Schedules that were judged once, kept as what is right.
