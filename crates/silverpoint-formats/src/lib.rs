//! Readers and writers of what was recorded
