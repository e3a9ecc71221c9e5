# Completion of exacell for bash. In ~/.bashrc: source <(exacell completion bash)
# Or put this file into /etc/bash_completion.d/.

_exacell() {
    # bash cuts words at = @ and :, exacell does not: put them together again from the line itself.
    local line=${COMP_LINE:0:COMP_POINT} word="" char quote="" i
    local -a words=()
    local started=""
    for ((i = 0; i < ${#line}; i++)); do
        char=${line:i:1}
        if [[ -n $quote ]]; then
            [[ $char == "$quote" ]] && quote="" || word+=$char
        elif [[ $char == [\"\'] ]]; then
            quote=$char started=1
        elif [[ $char == [[:space:]] ]]; then
            [[ -n $started ]] && words+=("$word")
            word="" started=""
        else
            [[ $char == \\ ]] && { ((i++)); char=${line:i:1}; }
            word+=$char started=1
        fi
    done
    words+=("$word")
    local index=$((${#words[@]} - 1))

    local previous=${words[index - 1]}
    case $previous in
        -g | --group-file | -f | --file | --ssh-config)
            COMPREPLY=()
            compopt -o default 2>/dev/null
            return
            ;;
    esac

    # readline replaces only what stands behind the last = or : in the word, or what begins with its last @; within quotes
    # all that stands there.
    local cut=""
    for ((i = ${#word}; i > 0; i--)); do
        char=${word:i-1:1}
        if [[ -z $quote && $char == [=:@] && $COMP_WORDBREAKS == *"$char"* ]]; then
            [[ $char == @ ]] && cut=${word:0:i-1} || cut=${word:0:i}
            break
        fi
    done

    COMPREPLY=()
    local candidate
    while IFS= read -r candidate; do
        [[ -n $candidate ]] || continue
        [[ $candidate == *[=,] ]] && compopt -o nospace 2>/dev/null
        candidate=${candidate#"$cut"}
        [[ -z $quote && $candidate == *" "* ]] && candidate=${candidate// /\\ }
        COMPREPLY+=("$candidate")
    done < <("${words[0]}" --complete bash "$index" "${words[@]}" 2>/dev/null)
}

complete -F _exacell exacell
