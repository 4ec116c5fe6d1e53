//! Codecs, one file per agent protocol: parse a payload, render a verdict. Pure.
