//! The campaign: budget, loop, findings.
