# Words of tutti's command line, for bash: commands and options are what --help says.
_tutti()
{
    local word=${COMP_WORDS[COMP_CWORD]} tutti=${COMP_WORDS[0]} words
    if [ "$COMP_CWORD" = 1 ]; then
        words="$("$tutti" --help 2>/dev/null | sed -n 's/^  tutti \([a-z]*\)\( .*\)\{0,1\}$/\1/p') --help --version"
    elif [[ $word == -* ]]; then
        words="$("$tutti" "${COMP_WORDS[1]}" --help 2>/dev/null | sed 1q | grep -o -e '--[a-z]*=\{0,1\}') --help"
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        return
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o filenames -F _tutti tutti
