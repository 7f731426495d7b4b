//! What can go wrong before trading.

/// A key that cannot be used. It never shows the key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// No API key, or no secret.
    #[error("the {0} is empty")]
    Empty(&'static str),
    /// Characters that cannot be sent in a header.
    #[error("the API key holds characters that no API key has")]
    ApiKey,
    /// Not PEM, or not a private key in PKCS#1 or PKCS#8.
    #[error("the private key is no RSA key in PEM (PKCS#1 or PKCS#8)")]
    Pem,
    /// A key that is refused: too short, or damaged.
    #[error("the RSA key cannot be used: {0}")]
    Rsa(Box<str>),
}
