//! Reads a TOML file table by table, so that whatever is wrong is told by its key and its line.

use std::fmt;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::secrecy;

/// A text of TOML, by the name that people know it by.
#[derive(Debug)]
pub(crate) struct Source<'a> {
    pub(crate) name: &'a str,
    pub(crate) text: &'a str,
}

/// What is wrong with a configuration. Never shows a value that may be a secret.
#[derive(Debug)]
pub(crate) struct ConfigError(String);

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A value, with where it stands.
#[derive(Clone, Debug)]
pub(crate) struct At<T> {
    pub(crate) value: T,
    /// The key with the tables around it, such as `venues.bybit-main.url`.
    pub(crate) key: String,
    pub(crate) line: usize,
}

/// One table. What is read is taken out.
#[derive(Debug)]
pub(crate) struct Section<'a> {
    source: &'a Source<'a>,
    key: String,
    line: usize,
    entries: Vec<(String, usize, Spanned<DeValue<'a>>)>,
}

impl<'a> Source<'a> {
    /// The line of a place in the text, from 1.
    fn line(&self, span: &Range<usize>) -> usize {
        let before = self.text.bytes().take(span.start);
        before
            .filter(|byte| *byte == b'\n')
            .count()
            .saturating_add(1)
    }

    /// The error about a key on a line.
    pub(crate) fn error(&self, key: &str, line: usize, what: impl fmt::Display) -> ConfigError {
        ConfigError(format!("{}, line {line}: {key}: {what}", self.name))
    }

    /// The whole file.
    pub(crate) fn read(&'a self) -> Result<Section<'a>, ConfigError> {
        // The parser's own text would show the line, and a secret may stand in it.
        let table = DeTable::parse(self.text).map_err(|error| {
            let line = error.span().map_or(1, |span| self.line(&span));
            let what = error.message().lines().next().unwrap_or("not TOML");
            ConfigError(format!("{}, line {line}: not TOML: {what}", self.name))
        })?;
        Section::new(self, String::new(), 1, table.into_inner())
    }
}

impl<'a> Section<'a> {
    fn new(
        source: &'a Source<'a>,
        key: String,
        line: usize,
        table: DeTable<'a>,
    ) -> Result<Self, ConfigError> {
        let entries = table.into_iter().map(|(name, value)| {
            let line = source.line(&name.span());
            (name.into_inner().into_owned(), line, value)
        });
        let section = Self {
            source,
            key,
            line,
            entries: entries.collect(),
        };
        for (name, line, value) in &section.entries {
            section.no_secret(name, *line, value)?;
        }
        Ok(section)
    }

    fn no_secret(
        &self,
        name: &str,
        line: usize,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<(), ConfigError> {
        let tabular = matches!(value.get_ref(), DeValue::Table(_));
        let shown = value
            .get_ref()
            .as_str()
            .is_some_and(secrecy::value_is_secret);
        if shown || (!tabular && secrecy::name_is_secret(name)) {
            let what = "a secret must not stand in this file: name a variable with key_env and secret_env, or a file with key_file and secret_file";
            return Err(self.source.error(&self.path(name), line, what));
        }
        Ok(())
    }

    /// The line on which it begins.
    pub(crate) const fn line(&self) -> usize {
        self.line
    }

    /// Its own key.
    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    pub(crate) const fn source(&self) -> &'a Source<'a> {
        self.source
    }

    /// The names in it that are not read yet.
    pub(crate) fn names(&self) -> Vec<String> {
        self.entries.iter().map(|(name, ..)| name.clone()).collect()
    }

    fn path(&self, name: &str) -> String {
        let name = if secrecy::name_is_shown(name) {
            name
        } else {
            "(a name that may be a secret)"
        };
        if self.key.is_empty() {
            name.to_owned()
        } else {
            format!("{}.{name}", self.key)
        }
    }

    /// Refuses every key that is not among these.
    pub(crate) fn only(&self, known: &[&str]) -> Result<(), ConfigError> {
        let unknown = self
            .entries
            .iter()
            .find(|(name, ..)| !known.contains(&name.as_str()));
        match unknown {
            None => Ok(()),
            Some((name, line, _)) => {
                let what = format!("unknown key; known here: {}", known.join(", "));
                Err(self.source.error(&self.path(name), *line, what))
            }
        }
    }

    fn take(&mut self, name: &str) -> Option<At<DeValue<'a>>> {
        let at = self.entries.iter().position(|(other, ..)| other == name)?;
        let (name, line, value) = self.entries.swap_remove(at);
        Some(At {
            value: value.into_inner(),
            key: self.path(&name),
            line,
        })
    }

    /// A text.
    pub(crate) fn text(&mut self, name: &str) -> Result<Option<At<String>>, ConfigError> {
        let Some(at) = self.take(name) else {
            return Ok(None);
        };
        match at.value.as_str() {
            Some(text) => Ok(Some(At {
                value: text.to_owned(),
                key: at.key,
                line: at.line,
            })),
            None => Err(self.wrong(&at.key, at.line, "a text in quotes", &at.value)),
        }
    }

    /// A list of texts.
    pub(crate) fn texts(&mut self, name: &str) -> Result<Option<At<Vec<String>>>, ConfigError> {
        let Some(at) = self.take(name) else {
            return Ok(None);
        };
        let expected = "a list of texts in quotes";
        let DeValue::Array(items) = &at.value else {
            return Err(self.wrong(&at.key, at.line, expected, &at.value));
        };
        let mut value = Vec::with_capacity(items.len());
        for item in items {
            let item = item.get_ref();
            let Some(text) = item.as_str() else {
                let what = format!("must be {expected}, and holds {}", type_of(item));
                return Err(self.source.error(&at.key, at.line, what));
            };
            value.push(text.to_owned());
        }
        Ok(Some(At {
            value,
            key: at.key,
            line: at.line,
        }))
    }

    /// A text that must be there.
    pub(crate) fn required(&mut self, name: &str) -> Result<At<String>, ConfigError> {
        let missing = self.missing(name);
        self.text(name)?.ok_or(missing)
    }

    /// The error about a key that must be there.
    pub(crate) fn missing(&self, name: &str) -> ConfigError {
        self.source
            .error(&self.path(name), self.line, "is missing in this table")
    }

    /// A whole number, not below zero.
    pub(crate) fn whole(&mut self, name: &str) -> Result<Option<At<u64>>, ConfigError> {
        let Some(at) = self.take(name) else {
            return Ok(None);
        };
        let expected = "a whole number, not below zero";
        let DeValue::Integer(number) = &at.value else {
            return Err(self.wrong(&at.key, at.line, expected, &at.value));
        };
        match u64::from_str_radix(number.as_str(), number.radix()) {
            Ok(value) => Ok(Some(At {
                value,
                key: at.key,
                line: at.line,
            })),
            Err(_) => {
                let what = format!("must be {expected}");
                Err(self.source.error(&at.key, at.line, what))
            }
        }
    }

    /// Yes or no.
    pub(crate) fn flag(&mut self, name: &str) -> Result<Option<bool>, ConfigError> {
        let Some(at) = self.take(name) else {
            return Ok(None);
        };
        match at.value.as_bool() {
            Some(flag) => Ok(Some(flag)),
            None => Err(self.wrong(&at.key, at.line, "true or false", &at.value)),
        }
    }

    /// A table in it.
    pub(crate) fn section(&mut self, name: &str) -> Result<Option<Self>, ConfigError> {
        let Some(at) = self.take(name) else {
            return Ok(None);
        };
        if let DeValue::Table(table) = at.value {
            return Self::new(self.source, at.key, at.line, table).map(Some);
        }
        Err(self.wrong(&at.key, at.line, "a table", &at.value))
    }

    fn wrong(&self, key: &str, line: usize, expected: &str, found: &DeValue<'_>) -> ConfigError {
        let what = format!("must be {expected}, and is {}", type_of(found));
        self.source.error(key, line, what)
    }
}

impl<T> At<T> {
    /// The error about this value.
    pub(crate) fn error(&self, source: &Source<'_>, what: impl fmt::Display) -> ConfigError {
        source.error(&self.key, self.line, what)
    }
}

const fn type_of(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number with a point",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
