//! Sealed tokens: cursors, request states and task ids that clients carry. A sealed token cannot be
//! read or changed, works only for its purpose and its principal, and expires.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hkdf::{HKDF_SHA256, Salt};

use crate::Principal;

/// The first byte of a token: the version of its format.
const FORMAT_VERSION: u8 = 1;
const KEY_ID_BYTES: usize = 4;
const SALT_BYTES: usize = 16;
const HEADER_BYTES: usize = 1 + KEY_ID_BYTES + SALT_BYTES;
const EXPIRY_BYTES: usize = 8;

/// Longer tokens are rejected unread.
const MAX_TOKEN_BYTES: usize = 1024 * 1024;

/// What a token is for. It is invalid for any other purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenPurpose {
    /// A position in a list.
    Cursor,
    /// The state of a parked call.
    Parked,
    /// The id of a task.
    Task,
}

impl TokenPurpose {
    fn label(self) -> &'static [u8] {
        match self {
            Self::Cursor => b"tidegate cursor",
            Self::Parked => b"tidegate parked call",
            Self::Task => b"tidegate task",
        }
    }
}

/// Why a token is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnsealError {
    /// It was not sealed here, was changed, or is for another purpose or principal.
    Foreign,
    /// It has expired.
    Expired,
}

/// The keys of one gateway. The first key encrypts; any of them decrypts.
pub struct Seal {
    keys: Vec<SealingKey>,
}

struct SealingKey {
    id: [u8; KEY_ID_BYTES],
    secret: [u8; 32],
}

impl Seal {
    /// A random key, for the lifetime of this process.
    pub fn generate() -> Self {
        Self::new(random_bytes(), [])
    }

    /// A key that encrypts, and older keys that still decrypt.
    pub fn new(secret: [u8; 32], older: impl IntoIterator<Item = [u8; 32]>) -> Self {
        let keys = std::iter::once(secret).chain(older);
        Self {
            keys: keys.map(SealingKey::new).collect(),
        }
    }

    /// A token with this payload that only this principal can use, for this purpose and lifetime.
    pub fn seal(
        &self,
        purpose: TokenPurpose,
        principal: &Principal,
        lifetime: Duration,
        payload: &[u8],
    ) -> String {
        let key = &self.keys[0];
        let salt: [u8; SALT_BYTES] = random_bytes();
        let expiry = seconds(SystemTime::now() + lifetime);
        let mut token = Vec::with_capacity(HEADER_BYTES + EXPIRY_BYTES + payload.len() + 16);
        token.push(FORMAT_VERSION);
        token.extend(key.id);
        token.extend(salt);
        let mut sealed = [&expiry.to_be_bytes(), payload].concat();
        key.cipher(&salt)
            .seal_in_place_append_tag(nonce(), associated_data(purpose, principal), &mut sealed)
            .expect("the payload is shorter than the cipher allows");
        token.extend(sealed);
        URL_SAFE_NO_PAD.encode(token)
    }

    /// The payload of a token, if it is valid for this purpose and principal and has not expired.
    pub fn open(
        &self,
        purpose: TokenPurpose,
        principal: &Principal,
        token: &str,
    ) -> Result<Vec<u8>, UnsealError> {
        self.open_at(SystemTime::now(), purpose, principal, token)
    }

    fn open_at(
        &self,
        now: SystemTime,
        purpose: TokenPurpose,
        principal: &Principal,
        token: &str,
    ) -> Result<Vec<u8>, UnsealError> {
        if token.len() > MAX_TOKEN_BYTES {
            return Err(UnsealError::Foreign);
        }
        let token = URL_SAFE_NO_PAD
            .decode(token)
            .map_err(|_| UnsealError::Foreign)?;
        let (header, sealed) = token
            .split_at_checked(HEADER_BYTES)
            .ok_or(UnsealError::Foreign)?;
        let (format, id) = (header[0], &header[1..=KEY_ID_BYTES]);
        let key = self
            .keys
            .iter()
            .find(|key| format == FORMAT_VERSION && key.id == id);
        let cipher = key
            .ok_or(UnsealError::Foreign)?
            .cipher(&header[1 + KEY_ID_BYTES..]);
        let mut sealed = sealed.to_vec();
        let opened = cipher
            .open_in_place(nonce(), associated_data(purpose, principal), &mut sealed)
            .map_err(|_| UnsealError::Foreign)?;
        let (expiry, payload) = opened
            .split_first_chunk::<EXPIRY_BYTES>()
            .ok_or(UnsealError::Foreign)?;
        match seconds(now) <= u64::from_be_bytes(*expiry) {
            true => Ok(payload.to_vec()),
            false => Err(UnsealError::Expired),
        }
    }
}

/// The SHA-256 digest of a text.
pub fn sha256(bytes: impl AsRef<[u8]>) -> [u8; 32] {
    let digest = ring::digest::digest(&ring::digest::SHA256, bytes.as_ref());
    let mut bytes = [0; 32];
    bytes.copy_from_slice(digest.as_ref());
    bytes
}

/// Cryptographically random bytes.
pub fn random_bytes<const LENGTH: usize>() -> [u8; LENGTH] {
    let mut bytes = [0; LENGTH];
    getrandom::fill(&mut bytes).expect("the system has a random number generator");
    bytes
}

impl fmt::Debug for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seal").finish_non_exhaustive()
    }
}

impl SealingKey {
    fn new(secret: [u8; 32]) -> Self {
        let id = derive::<KEY_ID_BYTES>(b"", &secret, b"tidegate key id");
        Self { id, secret }
    }

    /// The cipher of one token. Each token has its own key, so the nonce is used once.
    fn cipher(&self, salt: &[u8]) -> LessSafeKey {
        let key = derive::<32>(salt, &self.secret, b"tidegate token");
        let key = UnboundKey::new(&AES_256_GCM, &key).expect("the key has the cipher's length");
        LessSafeKey::new(key)
    }
}

fn derive<const LENGTH: usize>(salt: &[u8], secret: &[u8], label: &[u8]) -> [u8; LENGTH] {
    struct KeyLength(usize);
    impl ring::hkdf::KeyType for KeyLength {
        fn len(&self) -> usize {
            self.0
        }
    }
    let mut derived = [0; LENGTH];
    Salt::new(HKDF_SHA256, salt)
        .extract(secret)
        .expand(&[label], KeyLength(LENGTH))
        .and_then(|derivation| derivation.fill(&mut derived))
        .expect("the length can be derived");
    derived
}

fn nonce() -> Nonce {
    Nonce::assume_unique_for_key([0; NONCE_LEN])
}

fn associated_data(purpose: TokenPurpose, principal: &Principal) -> Aad<Vec<u8>> {
    Aad::from([purpose.label(), b"\0", principal.as_str().as_bytes()].concat())
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    fn ada() -> Principal {
        Principal::new("ada")
    }

    #[test]
    fn a_token_is_valid_only_for_its_purpose_principal_and_key() {
        let seal = Seal::generate();
        let token = seal.seal(TokenPurpose::Cursor, &ada(), HOUR, b"page 2");
        assert_eq!(
            seal.open(TokenPurpose::Cursor, &ada(), &token).unwrap(),
            b"page 2"
        );
        let bob = Principal::new("bob");
        assert_eq!(
            seal.open(TokenPurpose::Cursor, &bob, &token),
            Err(UnsealError::Foreign)
        );
        assert_eq!(
            seal.open(TokenPurpose::Parked, &ada(), &token),
            Err(UnsealError::Foreign)
        );
        let other = Seal::generate();
        assert_eq!(
            other.open(TokenPurpose::Cursor, &ada(), &token),
            Err(UnsealError::Foreign)
        );
        assert_ne!(
            token,
            seal.seal(TokenPurpose::Cursor, &ada(), HOUR, b"page 2")
        );
    }

    #[test]
    fn a_token_expires() {
        let seal = Seal::generate();
        let token = seal.seal(TokenPurpose::Cursor, &ada(), HOUR, b"");
        let later = SystemTime::now() + HOUR + Duration::from_secs(2);
        let opened = seal.open_at(later, TokenPurpose::Cursor, &ada(), &token);
        assert_eq!(opened, Err(UnsealError::Expired));
    }

    #[test]
    fn an_older_key_still_decrypts() {
        let (old, new) = ([1; 32], [2; 32]);
        let token = Seal::new(old, []).seal(TokenPurpose::Cursor, &ada(), HOUR, b"x");
        let rotated = Seal::new(new, [old]);
        assert_eq!(
            rotated.open(TokenPurpose::Cursor, &ada(), &token).unwrap(),
            b"x"
        );
        let forgotten = Seal::new(new, []);
        assert_eq!(
            forgotten.open(TokenPurpose::Cursor, &ada(), &token),
            Err(UnsealError::Foreign)
        );
    }

    proptest! {
        #[test]
        fn rejects_a_changed_token(payload: Vec<u8>, at: prop::sample::Index, flip in 1..=255_u8) {
            let seal = Seal::new([7; 32], []);
            let token = seal.seal(TokenPurpose::Cursor, &ada(), HOUR, &payload);
            let mut bytes = URL_SAFE_NO_PAD.decode(token).unwrap();
            let at = at.index(bytes.len());
            bytes[at] ^= flip;
            let changed = URL_SAFE_NO_PAD.encode(bytes);
            prop_assert_eq!(seal.open(TokenPurpose::Cursor, &ada(), &changed), Err(UnsealError::Foreign));
        }

        #[test]
        fn rejects_any_other_text(text in ".{0,200}") {
            let opened = Seal::new([7; 32], []).open(TokenPurpose::Cursor, &ada(), &text);
            prop_assert_eq!(opened, Err(UnsealError::Foreign));
        }
    }
}
