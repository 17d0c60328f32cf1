//! The run file: one SQLite database per run.
