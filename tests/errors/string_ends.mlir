// error: NAME:2:27: expected an attribute, found '"never closed} {'
module attributes {name = "never closed} {
}
