#compdef tutti
# Words of tutti's command line, for zsh: commands and options are what --help says.
local tutti=${words[1]}
if (( CURRENT == 2 )); then
    compadd -- ${(f)"$($tutti --help 2>/dev/null | sed -n 's/^  tutti \([a-z]*\)\( .*\)\{0,1\}$/\1/p')"} --help --version
elif [[ $PREFIX == -* ]]; then
    compadd -- ${(f)"$($tutti ${words[2]} --help 2>/dev/null | sed 1q | grep -o -e '--[a-z]*=\{0,1\}')"} --help
else
    _files
fi
