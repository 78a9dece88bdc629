// error: NAME:2:1: expected a function, found '{'
{ "layers": [1, 2] }
