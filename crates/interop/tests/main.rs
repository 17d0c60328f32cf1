//! Files of other people and of the search, read as those that a user hands in.

mod corpus;
mod job_corpus;
