//! `report.json`: the contract with scripts.
