//! What was run: enough to run it again and get the same bytes.

use serde::{Deserialize, Serialize};

/// The version of `iisim` that results are stamped with.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The identity of a run and where its values came from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Name of the scenario, as `iisim run` takes it.
    pub name: String,
    /// One line that says what is simulated.
    pub title: String,
    /// The question that the scenario answers; empty if it states none.
    pub question: String,
    /// The machine in one line: disks, pool, clients.
    pub machine: String,
    /// The text of the scenario with all the files it uses.
    pub scenario: String,
    /// [`scenario_hash`] of `scenario`.
    pub scenario_hash: String,
    /// The seed of every random stream of the run.
    pub seed: u64,
    /// The scale as it was given: `1` or `1/2^k`.
    pub scale: String,
    /// Version of `iisim`.
    pub iisim_version: String,
    /// Every value the run used, at full scale, in the order of the parameter registry.
    pub values: Vec<ManifestValue>,
    /// Warnings about the run, such as "no I/O happened".
    pub notes: Vec<String>,
}

/// One value of the scenario.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestValue {
    /// Dotted key, such as `pool.size`.
    pub key: String,
    /// The value with its unit, as a scenario file would state it.
    pub value: String,
    /// Which layer set it: a file and line, `--set`, or `default`.
    pub origin: String,
    /// Where the number was published, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Why it was chosen, if nobody published it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assumed: Option<String>,
}

/// The fingerprint of a scenario's text.
pub fn scenario_hash(text: &str) -> String {
    fingerprint(text.as_bytes())
}

/// FNV-1a with 128 bits, as 32 hexadecimal digits.
///
/// It tells contents apart and does not protect against forgery. Constants and test vectors: G.
/// Fowler, L. C. Noll, K.-P. Vo, D. Eastlake, "The FNV Non-Cryptographic Hash Algorithm".
pub fn fingerprint(bytes: &[u8]) -> String {
    const OFFSET_BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = (1 << 88) + 0x13b;
    let hash =
        bytes.iter().fold(OFFSET_BASIS, |hash, b| (hash ^ u128::from(*b)).wrapping_mul(PRIME));
    format!("{hash:032x}")
}

#[cfg(test)]
mod tests {
    use super::scenario_hash;

    #[test]
    fn hash_meets_the_published_vectors() {
        assert_eq!(scenario_hash(""), "6c62272e07bb014262b821756295c58d");
        assert_eq!(scenario_hash("a"), "d228cb696f1a8caf78912b704e4a8964");
        assert_eq!(scenario_hash("foobar"), "343e1662793c64bf6f0d3597ba446f18");
    }
}
