//! A strict reader of JSON.

/// A JSON value; objects keep their order and may not repeat a key.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

/// Containers nested deeper than this are refused.
const MAX_DEPTH: usize = 32;

impl Json {
    pub(crate) fn parse(text: &str) -> Result<Json, String> {
        let mut reader = Reader { bytes: text.as_bytes(), at: 0 };
        let value = reader.value(0)?;
        reader.space();
        if reader.at < reader.bytes.len() {
            return Err(reader.error("nothing more"));
        }
        Ok(value)
    }

    /// The value of `key`, when this is an object that has it.
    pub(crate) fn get(&self, key: &str) -> Option<&Json> {
        match self {
            Json::Object(entries) => entries.iter().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }

    pub(crate) fn list(&self) -> Result<&[Json], String> {
        match self {
            Json::List(list) => Ok(list),
            _ => Err("expected a list".into()),
        }
    }

    pub(crate) fn number(&self) -> Result<f64, String> {
        match self {
            Json::Number(x) => Ok(*x),
            _ => Err("expected a number".into()),
        }
    }

    /// A whole number from 0 to 2^32 - 1.
    pub(crate) fn index(&self) -> Result<usize, String> {
        let x = self.number()?;
        if x >= 0.0 && x <= f64::from(u32::MAX) && x.fract() == 0.0 {
            return Ok(x as usize);
        }
        Err(format!("expected a whole number, found {x}"))
    }

    pub(crate) fn indices(&self) -> Result<Vec<usize>, String> {
        self.list()?.iter().map(Json::index).collect()
    }

    /// A list of -1 and +1.
    pub(crate) fn spins(&self) -> Result<Vec<i8>, String> {
        let spin = |v: &Json| match v.number()? {
            1.0 => Ok(1),
            -1.0 => Ok(-1),
            x => Err(format!("expected -1 or 1, found {x}")),
        };
        self.list()?.iter().map(spin).collect()
    }

    /// Refuses keys outside `known`.
    pub(crate) fn only(&self, known: &[&str]) -> Result<(), String> {
        match self {
            Json::Object(entries) => match entries.iter().find(|(name, _)| !known.contains(&name.as_str())) {
                Some((name, _)) => Err(format!("unknown field `{name}`")),
                None => Ok(()),
            },
            _ => Err("expected an object".into()),
        }
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn error(&self, wanted: &str) -> String {
        format!("JSON: expected {wanted} at byte {}", self.at)
    }

    fn space(&mut self) {
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn eat(&mut self, token: &str) -> bool {
        self.space();
        let found = self.bytes[self.at..].starts_with(token.as_bytes());
        self.at += if found { token.len() } else { 0 };
        found
    }

    fn value(&mut self, depth: usize) -> Result<Json, String> {
        if depth > MAX_DEPTH {
            return Err(self.error("less nesting"));
        }
        self.space();
        match self.bytes.get(self.at) {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => Ok(Json::Text(self.text()?)),
            Some(b'-' | b'0'..=b'9') => self.digits(),
            _ if self.eat("null") => Ok(Json::Null),
            _ if self.eat("true") => Ok(Json::Bool(true)),
            _ if self.eat("false") => Ok(Json::Bool(false)),
            _ => Err(self.error("a value")),
        }
    }

    fn array(&mut self, depth: usize) -> Result<Json, String> {
        let mut list = Vec::new();
        self.eat("[");
        if self.eat("]") {
            return Ok(Json::List(list));
        }
        loop {
            list.push(self.value(depth + 1)?);
            if self.eat("]") {
                return Ok(Json::List(list));
            }
            if !self.eat(",") {
                return Err(self.error("`,` or `]`"));
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json, String> {
        let mut entries: Vec<(String, Json)> = Vec::new();
        self.eat("{");
        if self.eat("}") {
            return Ok(Json::Object(entries));
        }
        loop {
            self.space();
            let key = self.text()?;
            if !self.eat(":") {
                return Err(self.error("`:`"));
            }
            if entries.len() >= 64 || entries.iter().any(|(name, _)| *name == key) {
                return Err(self.error("fewer or distinct keys"));
            }
            let value = self.value(depth + 1)?;
            entries.push((key, value));
            if self.eat("}") {
                return Ok(Json::Object(entries));
            }
            if !self.eat(",") {
                return Err(self.error("`,` or `}`"));
            }
        }
    }

    /// A string; of the escapes only those that stand for themselves are needed here.
    fn text(&mut self) -> Result<String, String> {
        if !self.eat("\"") {
            return Err(self.error("a string"));
        }
        let mut out = Vec::new();
        loop {
            match self.bytes.get(self.at) {
                Some(b'"') => break,
                Some(b'\\') => match self.bytes.get(self.at + 1) {
                    Some(c @ (b'"' | b'\\' | b'/')) => {
                        out.push(*c);
                        self.at += 2;
                    }
                    Some(b'n' | b't' | b'r' | b'b' | b'f') => {
                        out.push(b' ');
                        self.at += 2;
                    }
                    _ => return Err(self.error("a plain string")),
                },
                Some(&c) if c >= 0x20 => {
                    out.push(c);
                    self.at += 1;
                }
                _ => return Err(self.error("the end of a string")),
            }
        }
        self.at += 1;
        String::from_utf8(out).map_err(|_| self.error("UTF-8"))
    }

    fn digits(&mut self) -> Result<Json, String> {
        let start = self.at;
        while matches!(self.bytes.get(self.at), Some(b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')) {
            self.at += 1;
        }
        let token = std::str::from_utf8(&self.bytes[start..self.at]).unwrap_or("");
        match token.parse::<f64>() {
            Ok(x) if x.is_finite() => Ok(Json::Number(x)),
            _ => Err(self.error("a finite number")),
        }
    }
}
