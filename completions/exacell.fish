# Completion of exacell for fish: exacell completion fish > ~/.config/fish/completions/exacell.fish

function __exacell_complete
    set -l words (commandline -opc)
    # Within quotes the word has no end yet.
    set -l current (commandline -ct | string replace -r '^["\']' '')
    $words[1] --complete fish (count $words) $words "$current" 2>/dev/null
end

function __exacell_wants_file
    set -l words (commandline -opc)
    contains -- $words[-1] -g --group-file -f --file --ssh-config
end

complete -c exacell -f
complete -c exacell -n __exacell_wants_file -F
complete -c exacell -n 'not __exacell_wants_file' -f -k -a '(__exacell_complete)'
