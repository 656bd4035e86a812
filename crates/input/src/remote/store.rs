//! Stores and their objects, by the crate `object_store`: whose addresses they are, what is asked of them,
//! and what their errors mean to a person.
//!
//! Credentials and endpoints come from the environment variables that crate knows; nothing is read from
//! the files of other tools but what it reads itself.

use std::collections::HashMap;
use std::env;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpStream};
use std::ops::{Range, RangeInclusive};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::http::HttpBuilder;
use object_store::path::Path;
use object_store::{
    ClientConfigKey, ClientOptions, Error, GetOptions, GetRange, GetResult, ObjectMeta,
    ObjectStore, ObjectStoreExt, RetryConfig,
};

/// How long a block may take, and a server may say nothing before a request is repeated: the crate gives up on what takes half
/// a minute in all, which on a slow line is every block.
const PATIENCE: [(ClientConfigKey, &str); 2] =
    [(ClientConfigKey::Timeout, "1 hour"), (ClientConfigKey::ReadTimeout, "30 seconds")];

/// Where machines of Amazon, Google and Microsoft ask for the credentials they were given.
const METADATA: ([u8; 4], u16) = ([169, 254, 169, 254], 80);

/// What an error says of that, where somebody answers but gives none.
const METADATA_WORDS: [&str; 2] = ["169.254.169.254", "metadata.google.internal"];

/// What names another server of Amazon's kind.
const ENDPOINTS: [&str; 3] = ["AWS_ENDPOINT", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"];

/// Where an object is.
pub(super) struct Address {
    /// As the user wrote it.
    pub(super) text: String,
    scheme: String,
    /// The bucket, container or server.
    place: String,
    path: Path,
}

/// An object as it was when it was opened.
pub(super) struct Object {
    pub(super) url: String,
    store: Arc<dyn ObjectStore>,
    path: Path,
    meta: ObjectMeta,
    /// Its first bytes.
    pub(super) head: Bytes,
}

impl Address {
    pub(super) fn parse(text: &str) -> io::Result<Address> {
        let wrong = |said: String| io::Error::new(ErrorKind::InvalidInput, said);
        let (scheme, rest) = text.split_once("://").ok_or_else(|| wrong("no address".into()))?;
        let scheme = scheme.to_ascii_lowercase();
        let (place, path) = rest.split_once('/').unwrap_or((rest, ""));
        let is_web = scheme.starts_with("http");
        if is_web && path.contains(['?', '#']) {
            return Err(wrong("addresses with ? or # are not supported".into()));
        }
        if is_web && path.to_ascii_lowercase().contains("%2f") {
            return Err(wrong(
                "addresses with %2F, which would become /, are not supported".into(),
            ));
        }
        if is_web && place.contains('@') {
            let said = "addresses with a user or password, which would be shown, are not supported";
            return Err(wrong(said.into()));
        }
        if place.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return Err(wrong(format!("{place:?} is called like no bucket or server")));
        }
        let parsed = if is_web {
            Path::from_url_path(path)
        } else {
            Path::parse(path.trim_end_matches('/'))
        };
        let path = parsed.map_err(|error| wrong(error.to_string()))?;
        let [text, place] = [text, place].map(str::to_owned);
        Ok(Address { text, scheme, place, path })
    }

    /// The same address however it is spelled.
    pub(super) fn canonical(&self) -> String {
        let place = self.place.to_ascii_lowercase();
        let (scheme, place) = match self.scheme.as_str() {
            "s3a" => ("s3", &self.place[..]),
            "http" => ("http", place.strip_suffix(":80").unwrap_or(&place)),
            "https" => ("https", place.strip_suffix(":443").unwrap_or(&place)),
            // With an account in its name the container has another name without.
            "adl" | "azure" | "abfs" | "abfss" if !self.place.contains('@') => {
                ("az", &self.place[..])
            }
            scheme => (scheme, &self.place[..]),
        };
        format!("{scheme}://{place}/{}", self.path)
    }

    /// The addresses of the objects in it as a folder, sorted.
    pub(super) async fn list(&self) -> io::Result<Vec<String>> {
        if self.scheme.starts_with("http") {
            let said = "a web server lists nothing: name each object";
            return Err(io::Error::new(ErrorKind::Unsupported, said));
        }
        let listed = self.store()?.list_with_delimiter(Some(&self.path)).await.map_err(said)?;
        let address =
            |meta: ObjectMeta| format!("{}://{}/{}", self.scheme, self.place, meta.location);
        // Consoles make an object of no bytes that is called like its folder.
        let objects = listed.objects.into_iter().filter(|meta| meta.location != self.path);
        let mut found: Vec<String> = objects.map(address).collect();
        found.sort_unstable();
        // Pages of a listing may overlap.
        found.dedup();
        Ok(found)
    }

    /// The store it is in, of which there is one.
    fn store(&self) -> io::Result<Arc<dyn ObjectStore>> {
        static STORES: Mutex<Option<HashMap<String, Arc<dyn ObjectStore>>>> = Mutex::new(None);
        let mut stores = STORES.lock().unwrap_or_else(PoisonError::into_inner);
        let stores = stores.get_or_insert_default();
        let name = format!("{}://{}", self.scheme, self.place);
        if let Some(store) = stores.get(&name) {
            return Ok(Arc::clone(store));
        }
        let store = self.connect(&name)?;
        stores.insert(name, Arc::clone(&store));
        Ok(store)
    }

    fn connect(&self, name: &str) -> io::Result<Arc<dyn ObjectStore>> {
        static PROVIDER: Once = Once::new();
        // Who has chosen another one in this process may keep it.
        PROVIDER.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
        let retry = retry();
        Ok(match self.scheme.as_str() {
            "s3" | "s3a" => {
                has_credentials("AWS_")?;
                can_be_sent("AWS_")?;
                let mut builder = AmazonS3Builder::from_env().with_bucket_name(&self.place);
                for (key, value) in patient("AWS_") {
                    builder = builder.with_config(AmazonS3ConfigKey::Client(key), value);
                }
                Arc::new(builder.with_retry(retry).build().map_err(said)?)
            }
            "gs" => {
                has_credentials("GOOGLE_")?;
                let mut builder =
                    GoogleCloudStorageBuilder::from_env().with_bucket_name(&self.place);
                for (key, value) in patient("GOOGLE_") {
                    builder = builder.with_config(GoogleConfigKey::Client(key), value);
                }
                Arc::new(builder.with_retry(retry).build().map_err(said)?)
            }
            "http" | "https" => {
                let mut options = ClientOptions::new().with_allow_http(self.scheme == "http");
                for (key, value) in PATIENCE {
                    options = options.with_config(key, value);
                }
                let builder = HttpBuilder::new().with_url(name).with_client_options(options);
                Arc::new(builder.with_retry(retry).build().map_err(said)?)
            }
            _ => {
                has_credentials("AZURE_")?;
                can_be_sent("AZURE_")?;
                let mut builder = MicrosoftAzureBuilder::from_env().with_url(name);
                for (key, value) in patient("AZURE_") {
                    builder = builder.with_config(AzureConfigKey::Client(key), value);
                }
                Arc::new(builder.with_retry(retry).build().map_err(said)?)
            }
        })
    }
}

/// What the environment says of requests: those in flight, and how often one is repeated.
pub(super) const REQUESTS: (&str, RangeInclusive<usize>) = ("FATHOM_REQUESTS", 1..=1000);
pub(super) const RETRIES: (&str, RangeInclusive<usize>) = ("FATHOM_RETRIES", 0..=1000);

/// Such a number, if it is said.
///
/// # Errors
/// What is said in its place.
pub(super) fn number(
    (name, range): (&str, RangeInclusive<usize>),
) -> Result<Option<usize>, String> {
    let Some(said) = env::var_os(name) else { return Ok(None) };
    let number = said.to_str().and_then(|text| text.parse().ok());
    let number = number.filter(|number| range.contains(number));
    let (first, last) = (range.start(), range.end());
    number.map(Some).ok_or_else(|| format!("{name} is a number of {first} to {last}, not {said:?}"))
}

fn retry() -> RetryConfig {
    let usual = RetryConfig::default();
    let said = number(RETRIES).ok().flatten();
    RetryConfig { max_retries: said.unwrap_or(usual.max_retries), ..usual }
}

/// Whether the settings that the crate reads can be sent at all, which it does not ask.
fn can_be_sent(prefix: &str) -> io::Result<()> {
    let wrong = |said| Err(io::Error::new(ErrorKind::InvalidInput, said));
    for (name, value) in env::vars_os() {
        let (Some(name), value) = (name.to_str(), value.to_string_lossy()) else { continue };
        if name.starts_with(prefix) && value.contains(char::is_control) {
            return wrong(format!("{name} has a line end or another control character in it"));
        }
        let is_address = ["http://", "https://"].iter().any(|scheme| value.starts_with(scheme));
        if prefix == "AWS_" && ENDPOINTS.contains(&name) && !is_address {
            return wrong(format!("{name} is the address of a server, https://…, not {value:?}"));
        }
    }
    Ok(())
}

/// The patience that nobody asked for otherwise by variables, which the crate reads.
fn patient(prefix: &str) -> impl Iterator<Item = (ClientConfigKey, &'static str)> {
    let is_unsaid = move |(key, _): &(ClientConfigKey, &str)| {
        let name = format!("{prefix}{}", key.as_ref().to_ascii_uppercase());
        env::var_os(name).is_none()
    };
    PATIENCE.into_iter().filter(is_unsaid)
}

/// Whether credentials can be had. If no variable speaks of any, they are asked of the cloud's own
/// machine around this one; where there is none, nobody answers, and that would be tried for long.
fn has_credentials(prefix: &str) -> io::Result<()> {
    const ABOUT: &str =
        "KEY TOKEN SECRET CREDENTIAL SERVICE_ACCOUNT SKIP_SIGNATURE ENDPOINT CLI EMULATOR METADATA";
    let tells = |name: &str| {
        let is_ours = name.starts_with(prefix) && !ENDPOINTS.contains(&name);
        let is_other = ["SERVICE_ACCOUNT", "MSI_ENDPOINT", "IDENTITY_ENDPOINT"].contains(&name);
        is_other || is_ours && ABOUT.split(' ').any(|word| name.contains(word))
    };
    let is_said = env::vars_os().any(|(name, _)| name.to_str().is_some_and(tells));
    let home = env::var_os("HOME").map(std::path::PathBuf::from).unwrap_or_default();
    let by_login = home.join(".config/gcloud/application_default_credentials.json");
    if is_said || prefix == "GOOGLE_" && by_login.exists() {
        return Ok(());
    }
    let metadata = SocketAddr::from(METADATA);
    let found = TcpStream::connect_timeout(&metadata, Duration::from_secs(1));
    found.map(drop).map_err(|_| no_credentials(prefix))
}

fn no_credentials(prefix: &str) -> io::Error {
    let names = match prefix {
        "AWS_" => "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_SKIP_SIGNATURE=true",
        "GOOGLE_" => "GOOGLE_SERVICE_ACCOUNT, or GOOGLE_SKIP_SIGNATURE=true",
        _ => {
            "AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY, or AZURE_SKIP_SIGNATURE=true"
        }
    };
    let said = format!("there are no credentials: set {names} where everybody may read");
    io::Error::new(ErrorKind::PermissionDenied, said)
}

impl Object {
    /// The object, with as many first bytes.
    pub(super) async fn open(address: &Address, head_bytes: u64) -> io::Result<Object> {
        let (store, path) = (address.store()?, address.path.clone());
        let options =
            GetOptions { range: Some(GetRange::Bounded(0..head_bytes)), ..GetOptions::default() };
        let (meta, head) = match answer(&*store, &path, &options).await {
            Ok(answer) => answer,
            // Nothing has no range of bytes.
            Err(error @ Error::Generic { .. }) if has_no_ranges(&words(&error)) => {
                match store.head(&path).await {
                    Ok(meta) if meta.size == 0 => (meta, Bytes::new()),
                    _ => return Err(said(error)),
                }
            }
            Err(error) => return Err(said(error)),
        };
        let object = Object { url: address.text.clone(), store, path, meta, head };
        if asked_for(&object.meta).is_none() && object.meta.last_modified.timestamp() == 0 {
            let why = "the server tells neither ETag nor date: whether it changes while it is read would stay unknown";
            return Err(io::Error::new(ErrorKind::Unsupported, why));
        }
        let missing = object.meta.size.min(head_bytes) - (object.head.len() as u64).min(head_bytes);
        if missing > 0 { Err(cut_off(missing)) } else { Ok(object) }
    }

    /// Its size in bytes.
    pub(super) fn size(&self) -> u64 {
        self.meta.size
    }

    /// A text that is another one once the object is another one.
    pub(super) fn identity(&self) -> String {
        match &self.meta.e_tag {
            Some(tag) => format!("object:{}:{tag}", self.size()),
            None => format!("object:{}:{}", self.size(), self.meta.last_modified.to_rfc3339()),
        }
    }

    /// Some bytes of it, if it still is what it was.
    pub(super) async fn get(&self, range: Range<u64>) -> io::Result<Bytes> {
        let tag = asked_for(&self.meta).cloned();
        let options = GetOptions {
            range: Some(GetRange::Bounded(range.clone())),
            if_unmodified_since: tag.is_none().then_some(self.meta.last_modified),
            if_match: tag,
            ..GetOptions::default()
        };
        let (now, bytes) = answer(&*self.store, &self.path, &options).await.map_err(said)?;
        let then = &self.meta;
        let is_redated = now.e_tag.is_none() && now.last_modified != then.last_modified;
        if is_redated || (now.size, &now.e_tag) != (then.size, &then.e_tag) {
            return Err(changed());
        }
        match (range.end - range.start).checked_sub(bytes.len() as u64) {
            Some(0) => Ok(bytes),
            Some(missing) => Err(cut_off(missing)),
            None => Err(io::Error::other(LONGER)),
        }
    }
}

/// The answer and its body. Where that breaks the library asks for the rest with the ETag; where there is none, or one that
/// may not be asked for, all of it is asked for as often.
async fn answer(
    store: &dyn ObjectStore,
    path: &Path,
    options: &GetOptions,
) -> Result<(ObjectMeta, Bytes), Error> {
    let mut left = retry().max_retries;
    loop {
        let answer = store.get_opts(path, options.clone()).await?;
        let meta = answer.meta.clone();
        match body(answer).await {
            Err(_) if asked_for(&meta).is_none() && left > 0 => left -= 1,
            body => return Ok((meta, body?)),
        }
    }
}

/// As many bytes as the answer's head speaks of; of more no end may come.
async fn body(answer: GetResult) -> Result<Bytes, Error> {
    let most = answer.range.end - answer.range.start;
    let mut pieces = answer.into_stream();
    let mut all = BytesMut::new();
    while let Some(piece) = pieces.next().await {
        all.extend_from_slice(&piece?);
        if all.len() as u64 > most {
            return Err(Error::Generic { store: "", source: LONGER.into() });
        }
    }
    Ok(all.freeze())
}

const LONGER: &str = "the answer is longer than what was asked for";

/// Whether a server says that there is no such range of bytes, or none at all.
fn has_no_ranges(words: &str) -> bool {
    words.contains("416") || words.contains("non-partial response")
}

/// The ETag, if it may be asked for: a weak one equals none, not even itself.
fn asked_for(meta: &ObjectMeta) -> Option<&String> {
    meta.e_tag.as_ref().filter(|tag| !tag.starts_with("W/"))
}

fn changed() -> io::Error {
    io::Error::other("it changed while it was read")
}

fn cut_off(missing: u64) -> io::Error {
    io::Error::other(format!("the answer was cut off: {missing} bytes are missing"))
}

/// All that a store's error and what it comes from say.
fn words(error: &Error) -> String {
    let (mut text, mut cause) = (error.to_string(), std::error::Error::source(error));
    while let Some(inner) = cause {
        let inner_text = inner.to_string();
        if !text.contains(&inner_text) {
            text = format!("{text}: {inner_text}");
        }
        cause = inner.source();
    }
    text
}

/// What a store's error means.
fn said(error: Error) -> io::Error {
    let text = words(&error);
    let code = text.split_once("<Code>").and_then(|(_, rest)| Some(rest.split_once("</Code>")?.0));
    let code = code.map_or_else(String::new, |code| format!(", {code}"));
    let (kind, words) = match error {
        Error::NotFound { .. } => (ErrorKind::NotFound, format!("it is not there (404{code})")),
        Error::PermissionDenied { .. } => {
            (ErrorKind::PermissionDenied, format!("access is refused (403{code})"))
        }
        Error::Unauthenticated { .. } => {
            let said = format!("credentials are missing or wrong (401{code})");
            (ErrorKind::PermissionDenied, said)
        }
        _ if text.contains("412 Precondition Failed") => return changed(),
        _ if METADATA_WORDS.iter().any(|words| text.contains(words)) => {
            let stores = [("S3", "AWS_"), ("GCS", "GOOGLE_")];
            let store = stores.iter().find(|(store, _)| text.contains(store));
            return no_credentials(store.map_or("AZURE_", |(_, prefix)| prefix));
        }
        _ if text.contains("Account must be specified") => return no_credentials("AZURE_"),
        _ if text.contains("non-partial response") => (
            ErrorKind::Unsupported,
            "the server cannot read parts of it (no ranges of bytes)".into(),
        ),
        _ => {
            let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
            (ErrorKind::Other, line.chars().take(600).collect())
        }
    };
    io::Error::new(kind, words)
}
