//! Seals what clients carry for us: cursors, states of requests, ids. A sealed token cannot be read,
//! changed, moved to another purpose or used by another principal, and it expires.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hkdf::{HKDF_SHA256, Salt};

use crate::Principal;

/// The first byte of a token: how the rest is to be read.
const FORM: u8 = 1;
const KEY_ID_BYTES: usize = 4;
const SALT_BYTES: usize = 16;
const HEAD_BYTES: usize = 1 + KEY_ID_BYTES + SALT_BYTES;
const EXPIRY_BYTES: usize = 8;

/// Longer tokens are not ours.
const LONGEST_TOKEN: usize = 1024 * 1024;

/// What a token is for. One made for one purpose is worth nothing for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenPurpose {
    /// A place in a list.
    Cursor,
    /// A call that waits for its client.
    Parked,
    /// A call that goes on after its answer.
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

/// Why a token is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnsealError {
    /// Not one of ours, changed on the way, made for something else, or someone else's.
    Foreign,
    /// Ours, but too old.
    Expired,
}

/// The keys of one gateway. The first seals; all of them open.
pub struct Seal {
    keys: Vec<Key>,
}

struct Key {
    id: [u8; KEY_ID_BYTES],
    secret: [u8; 32],
}

impl Seal {
    /// Keys for as long as this process lives.
    pub fn random() -> Self {
        Self::new(random_bytes(), [])
    }

    /// A key to seal with, and older ones that still open.
    pub fn new(secret: [u8; 32], older: impl IntoIterator<Item = [u8; 32]>) -> Self {
        let keys = std::iter::once(secret).chain(older);
        Self {
            keys: keys.map(Key::new).collect(),
        }
    }

    /// A token that this principal can bring back for this purpose, for a while.
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
        let mut token = Vec::with_capacity(HEAD_BYTES + EXPIRY_BYTES + payload.len() + 16);
        token.push(FORM);
        token.extend(key.id);
        token.extend(salt);
        let mut sealed = [&expiry.to_be_bytes(), payload].concat();
        key.cipher(&salt)
            .seal_in_place_append_tag(nonce(), bound_to(purpose, principal), &mut sealed)
            .expect("a payload is shorter than the cipher allows");
        token.extend(sealed);
        URL_SAFE_NO_PAD.encode(token)
    }

    /// What was sealed, if this principal brings it back for the same purpose in time.
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
        if token.len() > LONGEST_TOKEN {
            return Err(UnsealError::Foreign);
        }
        let token = URL_SAFE_NO_PAD
            .decode(token)
            .map_err(|_| UnsealError::Foreign)?;
        let (head, sealed) = token
            .split_at_checked(HEAD_BYTES)
            .ok_or(UnsealError::Foreign)?;
        let (form, id) = (head[0], &head[1..=KEY_ID_BYTES]);
        let key = self.keys.iter().find(|key| form == FORM && key.id == id);
        let cipher = key
            .ok_or(UnsealError::Foreign)?
            .cipher(&head[1 + KEY_ID_BYTES..]);
        let mut sealed = sealed.to_vec();
        let opened = cipher
            .open_in_place(nonce(), bound_to(purpose, principal), &mut sealed)
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

/// A number for a text that no other text has.
pub fn sha256(text: &str) -> [u8; 32] {
    let digest = ring::digest::digest(&ring::digest::SHA256, text.as_bytes());
    let mut bytes = [0; 32];
    bytes.copy_from_slice(digest.as_ref());
    bytes
}

/// Bytes that nobody can guess.
pub fn random_bytes<const LENGTH: usize>() -> [u8; LENGTH] {
    let mut bytes = [0; LENGTH];
    getrandom::fill(&mut bytes).expect("the system has random numbers");
    bytes
}

impl fmt::Debug for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seal").finish_non_exhaustive()
    }
}

impl Key {
    fn new(secret: [u8; 32]) -> Self {
        let id = derive::<KEY_ID_BYTES>(b"", &secret, b"tidegate key id");
        Self { id, secret }
    }

    /// A cipher for one token: each has a key of its own, so that a nonce is used once.
    fn cipher(&self, salt: &[u8]) -> LessSafeKey {
        let key = derive::<32>(salt, &self.secret, b"tidegate token");
        let key = UnboundKey::new(&AES_256_GCM, &key).expect("a key of the cipher's length");
        LessSafeKey::new(key)
    }
}

fn derive<const LENGTH: usize>(salt: &[u8], secret: &[u8], label: &[u8]) -> [u8; LENGTH] {
    struct Length(usize);
    impl ring::hkdf::KeyType for Length {
        fn len(&self) -> usize {
            self.0
        }
    }
    let mut derived = [0; LENGTH];
    Salt::new(HKDF_SHA256, salt)
        .extract(secret)
        .expand(&[label], Length(LENGTH))
        .and_then(|derivation| derivation.fill(&mut derived))
        .expect("a length that can be derived");
    derived
}

fn nonce() -> Nonce {
    Nonce::assume_unique_for_key([0; NONCE_LEN])
}

fn bound_to(purpose: TokenPurpose, principal: &Principal) -> Aad<Vec<u8>> {
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
    fn a_token_comes_back_to_the_one_it_was_made_for() {
        let seal = Seal::random();
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
        let other = Seal::random();
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
        let seal = Seal::random();
        let token = seal.seal(TokenPurpose::Cursor, &ada(), HOUR, b"");
        let later = SystemTime::now() + HOUR + Duration::from_secs(2);
        let opened = seal.open_at(later, TokenPurpose::Cursor, &ada(), &token);
        assert_eq!(opened, Err(UnsealError::Expired));
    }

    #[test]
    fn an_older_key_still_opens() {
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
        fn a_changed_token_is_refused(payload: Vec<u8>, at: prop::sample::Index, flip in 1..=255_u8) {
            let seal = Seal::new([7; 32], []);
            let token = seal.seal(TokenPurpose::Cursor, &ada(), HOUR, &payload);
            let mut bytes = URL_SAFE_NO_PAD.decode(token).unwrap();
            let at = at.index(bytes.len());
            bytes[at] ^= flip;
            let changed = URL_SAFE_NO_PAD.encode(bytes);
            prop_assert_eq!(seal.open(TokenPurpose::Cursor, &ada(), &changed), Err(UnsealError::Foreign));
        }

        #[test]
        fn anything_else_is_refused_and_never_panics(text in ".{0,200}") {
            let opened = Seal::new([7; 32], []).open(TokenPurpose::Cursor, &ada(), &text);
            prop_assert_eq!(opened, Err(UnsealError::Foreign));
        }
    }
}
