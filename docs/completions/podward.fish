# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_podward_global_optspecs
    string join \n color= log= log-file= h/help V/version
end

function __fish_podward_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_podward_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_podward_using_subcommand
    set -l cmd (__fish_podward_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c podward -n "__fish_podward_needs_command" -l color -d 'When to colour what is written' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c podward -n "__fish_podward_needs_command" -l log -d 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)' -r
complete -c podward -n "__fish_podward_needs_command" -l log-file -d 'Append diagnostics to this file instead of standard error, as JSON lines' -r -F
complete -c podward -n "__fish_podward_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c podward -n "__fish_podward_needs_command" -s V -l version -d 'Print version'
complete -c podward -n "__fish_podward_needs_command" -f -a "run" -d 'Run an agent on a prompt'
complete -c podward -n "__fish_podward_needs_command" -f -a "serve" -d 'Keep a pod that takes prompts and answers on its socket'
complete -c podward -n "__fish_podward_needs_command" -f -a "attach" -d 'Show what pods do on a full screen, and answer what they ask'
complete -c podward -n "__fish_podward_needs_command" -f -a "send" -d 'Give a served pod a prompt'
complete -c podward -n "__fish_podward_needs_command" -f -a "cancel" -d 'Cancel what a pod is doing; it waits for the next prompt'
complete -c podward -n "__fish_podward_needs_command" -f -a "stop" -d 'Stop a pod'
complete -c podward -n "__fish_podward_needs_command" -f -a "pods" -d 'List the pods that run'
complete -c podward -n "__fish_podward_needs_command" -f -a "pending" -d 'Show what pods ask'
complete -c podward -n "__fish_podward_needs_command" -f -a "reply" -d 'Answer what a pod asks'
complete -c podward -n "__fish_podward_needs_command" -f -a "check" -d 'Judge a call, or files of cases, without running anything'
complete -c podward -n "__fish_podward_needs_command" -f -a "explain" -d 'Explain a verdict: every rule that was tried, and what would change it'
complete -c podward -n "__fish_podward_needs_command" -f -a "lint" -d 'Find rules that do not do what their author means'
complete -c podward -n "__fish_podward_needs_command" -f -a "test" -d 'Run the tests beside rules, and files of cases'
complete -c podward -n "__fish_podward_needs_command" -f -a "tools" -d 'List the tools: which are offered to the model, and why not'
complete -c podward -n "__fish_podward_needs_command" -f -a "manifest" -d 'Print the manifest that results from all layers, every line with its origin'
complete -c podward -n "__fish_podward_needs_command" -f -a "trust" -d 'Trust what a project\'s .podward/ sets, as it is now'
complete -c podward -n "__fish_podward_needs_command" -f -a "grants" -d 'Show and take back what was approved for more than one call'
complete -c podward -n "__fish_podward_needs_command" -f -a "skills" -d 'List, show or check skills, and the tools that they restrict an agent to'
complete -c podward -n "__fish_podward_needs_command" -f -a "undo" -d 'Bring back what a call changed in the workspace'
complete -c podward -n "__fish_podward_needs_command" -f -a "completions" -d 'Print a shell\'s completions'
complete -c podward -n "__fish_podward_needs_command" -f -a "child" -d 'Be the child of a pod: for pods to start'
complete -c podward -n "__fish_podward_needs_command" -f -a "man" -d 'Print a man page'
complete -c podward -n "__fish_podward_needs_command" -f -a "schema" -d 'Print the JSON Schema of what other programs read or write'
complete -c podward -n "__fish_podward_using_subcommand run" -l format -d 'What to write to standard output: the model\'s text, or every event as a line of JSON' -r -f -a "text\t'For people'
json\t'For programs'"
complete -c podward -n "__fish_podward_using_subcommand run" -l resume -d 'Go on with an earlier session: its id, or a beginning that no other session shares' -r
complete -c podward -n "__fish_podward_using_subcommand run" -l skill -d 'Start this skill with the prompt, which may then be absent: `/NAME` before the prompt is the same' -r
complete -c podward -n "__fish_podward_using_subcommand run" -l auto -d 'Answer what would be asked about with yes, once each; `all`: also what cannot be known before' -r -f -a "known\t'What is known before it runs'
all\t'Also what is not'"
complete -c podward -n "__fish_podward_using_subcommand run" -l permissions -d 'One more layer of rules, which can only tighten: a TOML file that holds `[permissions]`' -r -F
complete -c podward -n "__fish_podward_using_subcommand run" -l color -d 'When to colour what is written' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c podward -n "__fish_podward_using_subcommand run" -l log -d 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)' -r
complete -c podward -n "__fish_podward_using_subcommand run" -l log-file -d 'Append diagnostics to this file instead of standard error, as JSON lines' -r -F
complete -c podward -n "__fish_podward_using_subcommand run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c podward -n "__fish_podward_using_subcommand run" -s V -l version -d 'Print version'
complete -c podward -n "__fish_podward_using_subcommand serve" -l format -d 'What to write to standard output: the model\'s text, or every event as a line of JSON' -r -f -a "text\t'For people'
json\t'For programs'"
complete -c podward -n "__fish_podward_using_subcommand serve" -l resume -d 'Go on with an earlier session; without an ID, with the newest one of this manifest' -r
complete -c podward -n "__fish_podward_using_subcommand serve" -l auto -d 'Answer what would be asked about with yes, once each; `all`: also what cannot be known before' -r -f -a "known\t'What is known before it runs'
all\t'Also what is not'"
complete -c podward -n "__fish_podward_using_subcommand serve" -l permissions -d 'One more layer of rules, which can only tighten: a TOML file that holds `[permissions]`' -r -F
complete -c podward -n "__fish_podward_using_subcommand serve" -l color -d 'When to colour what is written' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c podward -n "__fish_podward_using_subcommand serve" -l log -d 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)' -r
complete -c podward -n "__fish_podward_using_subcommand serve" -l log-file -d 'Append diagnostics to this file instead of standard error, as JSON lines' -r -F
complete -c podward -n "__fish_podward_using_subcommand serve" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c podward -n "__fish_podward_using_subcommand serve" -s V -l version -d 'Print version'
complete -c podward -n "__fish_podward_using_subcommand attach" -l color -d 'When to colour what is written' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c podward -n "__fish_podward_using_subcommand attach" -l log -d 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)' -r
complete -c podward -n "__fish_podward_using_subcommand attach" -l log-file -d 'Append diagnostics to this file instead of standard error, as JSON lines' -r -F
complete -c podward -n "__fish_podward_using_subcommand attach" -l plain -d 'Write lines instead of filling the screen, for screen readers and logs'
complete -c podward -n "__fish_podward_using_subcommand attach" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c podward -n "__fish_podward_using_subcommand attach" -s V -l version -d 'Print version'
complete -c podward -n "__fish_podward_using_subcommand send" -l skill -d 'Start this skill with the prompt, which may then be absent: `/NAME` before the prompt is the same' -r
complete -c podward -n "__fish_podward_using_subcommand send" -l format -d 'What to write to standard output while following' -r -f -a "text\t'For people'
json\t'For programs'"
complete -c podward -n "__fish_podward_using_subcommand send" -l color -d 'When to colour what is written' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c podward -n "__fish_podward_using_subcommand send" -l log -d 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)' -r
complete -c podward -n "__fish_podward_using_subcommand send" -l log-file -d 'Append diagnostics to this file instead of standard error, as JSON lines' -r -F
complete -c podward -n "__fish_podward_using_subcommand send" -l wait -d 'Follow the turn to its end, as `podward run` does'
complete -c podward -n "__fish_podward_using_subcommand send" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c podward -n "__fish_podward_using_subcommand send" -s V -l version -d 'Print version'
complete -c podward -n "__fish_podward_using_subcommand cancel" -l color -d 'When to colour what is written' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c podward -n "__fish_podward_using_subcommand cancel" -l log -d 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)' -r
complete -c podward -n "__fish_podward_using_subcommand cancel" -l log-file -d 'Append diagnostics to this file instead of standard error, as JSON lines' -r -F
complete -c podward -n "__fish_podward_using_subcommand cancel" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c podward -n "__fish_podward_using_subcommand cancel" -s V -l version -d 'Print version'
complete -c podward -n "__fish_podward_using_subcommand stop" -l color -d 'When to colour what is written' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c podward -n "__fish_podward_using_subcommand stop" -l log -d 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)' -r
complete -c podward -n "__fish_podward_using_subcommand stop" -l log-file -d 'Append diagnostics to this file instead of standard error, as JSON lines' -r -F
complete -c podward -n "__fish_podward_using_subcommand stop" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c podward -n "__fish_podward_using_subcommand stop" -s V -l version -d 'Print version'
complete -c podward -n "__fish_podward_using_subcommand pods" -l format -d 'How to print' -r -f -a "text\t'For people'
json\t'For programs'"
complete -c podward -n "__fish_podward_using_subcommand pods" -l color -d 'When to colour what is written' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c podward -n "__fish_podward_using_subcommand pods" -l log -d 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)' -r
complete -c podward -n "__fish_podward_using_subcommand pods" -l log-file -d 'Append diagnostics to this file instead of standard error, as JSON lines' -r -F
complete -c podward -n "__fish_podward_using_subcommand pods" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c podward -n "__fish_podward_using_subcommand pods" -s V -l version -d 'Print version'
complete -c podward -n "__fish_podward_using_subcommand pending" -l format -d 'How to print; JSON has one question a line, with its digest' -r -f -a "text\t'For people'
json\t'For programs'"
complete -c podward -n "__fish_podward_using_subcommand pending" -l color -d 'When to colour what is written' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c podward -n "__fish_podward_using_subcommand pending" -l log -d 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)' -r
complete -c podward -n "__fish_podward_using_subcommand pending" -l log-file -d 'Append diagnostics to this file instead of standard error, as JSON lines' -r -F
complete -c podward -n "__fish_podward_using_subcommand pending" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c podward -n "__fish_podward_using_subcommand pending" -s V -l version -d 'Print version'
complete -c podward -n "__fish_podward_using_subcommand reply" -l digest -d 'The digest of the question that is answered, from `podward pending`' -r
complete -c podward -n "__fish_podward_using_subcommand reply" -l feedback -d '`reject`: what the model shall read, word for word' -r
complete -c podward -n "__fish_podward_using_subcommand reply" -l arguments -d '`edit`: the new arguments, a JSON object; `-` reads it from standard input' -r
complete -c podward -n "__fish_podward_using_subcommand reply" -l width -d '`always`: which of the offered widths, 1 being the narrowest' -r
complete -c podward -n "__fish_podward_using_subcommand reply" -l pattern -d '`always`: a pattern of your own; with `N=` in front where several parts of the call ask' -r
complete -c podward -n "__fish_podward_using_subcommand reply" -l for -d '`always`: for how long; `session` (the default), `project`, a time, or a number of uses' -r
complete -c podward -n "__fish_podward_using_subcommand reply" -l format -d 'How to print what the answer settled' -r -f -a "text\t'For people'
json\t'For programs'"
complete -c podward -n "__fish_podward_using_subcommand reply" -l color -d 'When to colour what is written' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c podward -n "__fish_podward_using_subcommand reply" -l log -d 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)' -r
complete -c podward -n "__fish_podward_using_subcommand reply" -l log-file -d 'Append diagnostics to this file instead of standard error, as JSON lines' -r -F
complete -c podward -n "__fish_podward_using_subcommand reply" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c podward -n "__fish_podward_using_subcommand reply" -s V -l version -d 'Print version'
complete -c podward -n "__fish_podward_using_subcommand check" -l manifest -d 'The manifest whose rules judge; only `[permissions]` is needed' -r -F
complete -c podward -n "__fish_podward_using_subcommand check" -l tool -d 'The tool\'s name' -r
complete -c podward -n "__fish_podward_using_subcommand check" -l input -d 'The call\'s arguments: a JSON object' -r
complete -c podward -n "__fish_podward_using_subcommand check" -l workspace -d 'The workspace that paths are relative to; the manifest\'s own, or the current directory' -r -F
complete -c podward -n "__fish_podward_using_subcommand check" -l cases -d 'Judge the cases of these JSON Lines files, each with a manifest of its own, always isolated' -r -F
complete -c podward -n "__fish_podward_using_subcommand check" -l format -d 'How to print' -r -f -a "text\t'For people'
json\t'For programs'"
complete -c podward -n "__fish_podward_using_subcommand check" -l permissions -d 'One more layer of rules, which can only tighten: a TOML file that holds `[permissions]`' -r -F
complete -c podward -n "__fish_podward_using_subcommand check" -l color -d 'When to colour what is written' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c podward -n "__fish_podward_using_subcommand check" -l log -d 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)' -r
complete -c podward -n "__fish_podward_using_subcommand check" -l log-file -d 'Append diagnostics to this file instead of standard error, as JSON lines' -r -F
complete -c podward -n "__fish_podward_using_subcommand check" -l isolated -d 'Judge by this manifest alone: no other layer is read, no symlink resolved'
complete -c podward -n "__fish_podward_using_subcommand check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c podward -n "__fish_podward_using_subcommand check" -s V -l version -d 'Print version'
complete -c podward -n "__fish_podward_using_subcommand explain" -l session -d 'The session: its id or a beginning of it; without it, the newest that has such a call' -r
complete -c podward -n "__fish_podward_using_subcommand explain" -l manifest -d 'The manifest whose rules judge; of a call of a session, instead of the one it ran with' -r -F
complete -c podward -n "__fish_podward_using_subcommand explain" -l tool -d 'The tool\'s name' -r
complete -c podward -n "__fish_podward_using_subcommand explain" -l input -d 'The call\'s arguments: a JSON object' -r
complete -c podward -n "__fish_podward_using_subcommand explain" -l workspace -d 'The workspace that paths are relative to; the manifest\'s own, or the current directory' -r -F
complete -c podward -n "__fish_podward_using_subcommand explain" -l format -d 'How to print' -r -f -a "text\t'For people'
json\t'For programs'"
complete -c podward -n "__fish_podward_using_subcommand explain" -l permissions -d 'One more layer of rules, which can only tighten: a TOML file that holds `[permissions]`' -r -F
complete -c podward -n "__fish_podward_using_subcommand explain" -l color -d 'When to colour what is written' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c podward -n "__fish_podward_using_subcommand explain" -l log -d 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)' -r
complete -c podward -n "__fish_podward_using_subcommand explain" -l log-file -d 'Append diagnostics to this file instead of standard error, as JSON lines' -r -F
complete -c podward -n "__fish_podward_using_subcommand explain" -l isolated -d 'Judge by this manifest alone: no other layer is read, no symlink resolved'
complete -c podward -n "__fish_podward_using_subcommand explain" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c podward -n "__fish_podward_using_subcommand explain" -s V -l version -d 'Print version'
complete -c podward -n "__fish_podward_using_subcommand lint" -l allow -d 'Leave out findings of a kind; may be given several times' -r
complete -c podward -n "__fish_podward_using_subcommand lint" -l format -d 'How to print' -r -f -a "text\t'For people'
json\t'For programs: a line for each finding'
sarif\t'SARIF 2.1.0, for code scanning'
github\t'Commands of a GitHub workflow: annotations'"
complete -c podward -n "__fish_podward_using_subcommand lint" -l permissions -d 'One more layer of rules, which can only tighten: a TOML file that holds `[permissions]`' -r -F
complete -c podward -n "__fish_podward_using_subcommand lint" -l color -d 'When to colour what is written' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c podward -n "__fish_podward_using_subcommand lint" -l log -d 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)' -r
complete -c podward -n "__fish_podward_using_subcommand lint" -l log-file -d 'Append diagnostics to this file instead of standard error, as JSON lines' -r -F
complete -c podward -n "__fish_podward_using_subcommand lint" -l isolated -d 'Look into these manifests alone: no other layer is read'
complete -c podward -n "__fish_podward_using_subcommand lint" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c podward -n "__fish_podward_using_subcommand lint" -s V -l version -d 'Print version'
complete -c podward -n "__fish_podward_using_subcommand test" -l format -d 'How to print' -r -f -a "text\t'What failed, for people'
json\t'A line a test'
junit\t'XML that build servers read'"
complete -c podward -n "__fish_podward_using_subcommand test" -l color -d 'When to colour what is written' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c podward -n "__fish_podward_using_subcommand test" -l log -d 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)' -r
complete -c podward -n "__fish_podward_using_subcommand test" -l log-file -d 'Append diagnostics to this file instead of standard error, as JSON lines' -r -F
complete -c podward -n "__fish_podward_using_subcommand test" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c podward -n "__fish_podward_using_subcommand test" -s V -l version -d 'Print version'
complete -c podward -n "__fish_podward_using_subcommand tools" -l format -d 'How to print; JSON has each tool\'s schema' -r -f -a "text\t'For people'
json\t'For programs'"
complete -c podward -n "__fish_podward_using_subcommand tools" -l permissions -d 'One more layer of rules, which can only tighten: a TOML file that holds `[permissions]`' -r -F
complete -c podward -n "__fish_podward_using_subcommand tools" -l color -d 'When to colour what is written' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c podward -n "__fish_podward_using_subcommand tools" -l log -d 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)' -r
complete -c podward -n "__fish_podward_using_subcommand tools" -l log-file -d 'Append diagnostics to this file instead of standard error, as JSON lines' -r -F
complete -c podward -n "__fish_podward_using_subcommand tools" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c podward -n "__fish_podward_using_subcommand tools" -s V -l version -d 'Print version'
complete -c podward -n "__fish_podward_using_subcommand manifest" -l permissions -d 'One more layer of rules, which can only tighten: a TOML file that holds `[permissions]`' -r -F
complete -c podward -n "__fish_podward_using_subcommand manifest" -l color -d 'When to colour what is written' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c podward -n "__fish_podward_using_subcommand manifest" -l log -d 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)' -r
complete -c podward -n "__fish_podward_using_subcommand manifest" -l log-file -d 'Append diagnostics to this file instead of standard error, as JSON lines' -r -F
complete -c podward -n "__fish_podward_using_subcommand manifest" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c podward -n "__fish_podward_using_subcommand manifest" -s V -l version -d 'Print version'
complete -c podward -n "__fish_podward_using_subcommand trust" -l color -d 'When to colour what is written' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c podward -n "__fish_podward_using_subcommand trust" -l log -d 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)' -r
complete -c podward -n "__fish_podward_using_subcommand trust" -l log-file -d 'Append diagnostics to this file instead of standard error, as JSON lines' -r -F
complete -c podward -n "__fish_podward_using_subcommand trust" -l revoke -d 'Forget that the project was trusted'
complete -c podward -n "__fish_podward_using_subcommand trust" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c podward -n "__fish_podward_using_subcommand trust" -s V -l version -d 'Print version'
complete -c podward -n "__fish_podward_using_subcommand grants; and not __fish_seen_subcommand_from list revoke explain" -l color -d 'When to colour what is written' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c podward -n "__fish_podward_using_subcommand grants; and not __fish_seen_subcommand_from list revoke explain" -l log -d 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)' -r
complete -c podward -n "__fish_podward_using_subcommand grants; and not __fish_seen_subcommand_from list revoke explain" -l log-file -d 'Append diagnostics to this file instead of standard error, as JSON lines' -r -F
complete -c podward -n "__fish_podward_using_subcommand grants; and not __fish_seen_subcommand_from list revoke explain" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c podward -n "__fish_podward_using_subcommand grants; and not __fish_seen_subcommand_from list revoke explain" -s V -l version -d 'Print version'
complete -c podward -n "__fish_podward_using_subcommand grants; and not __fish_seen_subcommand_from list revoke explain" -f -a "list" -d 'List what was approved for more than one call'
complete -c podward -n "__fish_podward_using_subcommand grants; and not __fish_seen_subcommand_from list revoke explain" -f -a "revoke" -d 'Take back what was approved'
complete -c podward -n "__fish_podward_using_subcommand grants; and not __fish_seen_subcommand_from list revoke explain" -f -a "explain" -d 'Show what a grant covers, who gave it, when and why'
complete -c podward -n "__fish_podward_using_subcommand grants; and __fish_seen_subcommand_from list" -l workspace -d 'Only the grants of this workspace; default: of all' -r -F
complete -c podward -n "__fish_podward_using_subcommand grants; and __fish_seen_subcommand_from list" -l format -d 'How to print; JSON has a line for each grant' -r -f -a "text\t'For people'
json\t'For programs'"
complete -c podward -n "__fish_podward_using_subcommand grants; and __fish_seen_subcommand_from list" -l color -d 'When to colour what is written' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c podward -n "__fish_podward_using_subcommand grants; and __fish_seen_subcommand_from list" -l log -d 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)' -r
complete -c podward -n "__fish_podward_using_subcommand grants; and __fish_seen_subcommand_from list" -l log-file -d 'Append diagnostics to this file instead of standard error, as JSON lines' -r -F
complete -c podward -n "__fish_podward_using_subcommand grants; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c podward -n "__fish_podward_using_subcommand grants; and __fish_seen_subcommand_from list" -s V -l version -d 'Print version'
complete -c podward -n "__fish_podward_using_subcommand grants; and __fish_seen_subcommand_from revoke" -l workspace -d 'With --all: only those of this workspace' -r -F
complete -c podward -n "__fish_podward_using_subcommand grants; and __fish_seen_subcommand_from revoke" -l color -d 'When to colour what is written' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c podward -n "__fish_podward_using_subcommand grants; and __fish_seen_subcommand_from revoke" -l log -d 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)' -r
complete -c podward -n "__fish_podward_using_subcommand grants; and __fish_seen_subcommand_from revoke" -l log-file -d 'Append diagnostics to this file instead of standard error, as JSON lines' -r -F
complete -c podward -n "__fish_podward_using_subcommand grants; and __fish_seen_subcommand_from revoke" -l all -d 'All grants, and all lines of their files that cannot be read'
complete -c podward -n "__fish_podward_using_subcommand grants; and __fish_seen_subcommand_from revoke" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c podward -n "__fish_podward_using_subcommand grants; and __fish_seen_subcommand_from revoke" -s V -l version -d 'Print version'
complete -c podward -n "__fish_podward_using_subcommand grants; and __fish_seen_subcommand_from explain" -l format -d 'How to print' -r -f -a "text\t'For people'
json\t'For programs'"
complete -c podward -n "__fish_podward_using_subcommand grants; and __fish_seen_subcommand_from explain" -l color -d 'When to colour what is written' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c podward -n "__fish_podward_using_subcommand grants; and __fish_seen_subcommand_from explain" -l log -d 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)' -r
complete -c podward -n "__fish_podward_using_subcommand grants; and __fish_seen_subcommand_from explain" -l log-file -d 'Append diagnostics to this file instead of standard error, as JSON lines' -r -F
complete -c podward -n "__fish_podward_using_subcommand grants; and __fish_seen_subcommand_from explain" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c podward -n "__fish_podward_using_subcommand grants; and __fish_seen_subcommand_from explain" -s V -l version -d 'Print version'
complete -c podward -n "__fish_podward_using_subcommand skills; and not __fish_seen_subcommand_from list show lint end" -l color -d 'When to colour what is written' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c podward -n "__fish_podward_using_subcommand skills; and not __fish_seen_subcommand_from list show lint end" -l log -d 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)' -r
complete -c podward -n "__fish_podward_using_subcommand skills; and not __fish_seen_subcommand_from list show lint end" -l log-file -d 'Append diagnostics to this file instead of standard error, as JSON lines' -r -F
complete -c podward -n "__fish_podward_using_subcommand skills; and not __fish_seen_subcommand_from list show lint end" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c podward -n "__fish_podward_using_subcommand skills; and not __fish_seen_subcommand_from list show lint end" -s V -l version -d 'Print version'
complete -c podward -n "__fish_podward_using_subcommand skills; and not __fish_seen_subcommand_from list show lint end" -f -a "list" -d 'List the skills of `[skills] directories`'
complete -c podward -n "__fish_podward_using_subcommand skills; and not __fish_seen_subcommand_from list show lint end" -f -a "show" -d 'Show one of them: what it says of itself, and the rules that its lists come to'
complete -c podward -n "__fish_podward_using_subcommand skills; and not __fish_seen_subcommand_from list show lint end" -f -a "lint" -d 'Check skills before any run: format, names of tools, lists that say too much or nothing'
complete -c podward -n "__fish_podward_using_subcommand skills; and not __fish_seen_subcommand_from list show lint end" -f -a "end" -d 'End a skill that is active in a pod: what it restricts is free again'
complete -c podward -n "__fish_podward_using_subcommand skills; and __fish_seen_subcommand_from list" -l manifest -d 'The pod\'s manifest; without it, the layers of the machine, the user and the project alone' -r -F
complete -c podward -n "__fish_podward_using_subcommand skills; and __fish_seen_subcommand_from list" -l permissions -d 'One more layer of rules, which can only tighten: a TOML file that holds `[permissions]`' -r -F
complete -c podward -n "__fish_podward_using_subcommand skills; and __fish_seen_subcommand_from list" -l format -d 'How to print' -r -f -a "text\t'For people'
json\t'For programs'"
complete -c podward -n "__fish_podward_using_subcommand skills; and __fish_seen_subcommand_from list" -l color -d 'When to colour what is written' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c podward -n "__fish_podward_using_subcommand skills; and __fish_seen_subcommand_from list" -l log -d 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)' -r
complete -c podward -n "__fish_podward_using_subcommand skills; and __fish_seen_subcommand_from list" -l log-file -d 'Append diagnostics to this file instead of standard error, as JSON lines' -r -F
complete -c podward -n "__fish_podward_using_subcommand skills; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c podward -n "__fish_podward_using_subcommand skills; and __fish_seen_subcommand_from list" -s V -l version -d 'Print version'
complete -c podward -n "__fish_podward_using_subcommand skills; and __fish_seen_subcommand_from show" -l manifest -d 'The pod\'s manifest; without it, the layers of the machine, the user and the project alone' -r -F
complete -c podward -n "__fish_podward_using_subcommand skills; and __fish_seen_subcommand_from show" -l permissions -d 'One more layer of rules, which can only tighten: a TOML file that holds `[permissions]`' -r -F
complete -c podward -n "__fish_podward_using_subcommand skills; and __fish_seen_subcommand_from show" -l format -d 'How to print' -r -f -a "text\t'For people'
json\t'For programs'"
complete -c podward -n "__fish_podward_using_subcommand skills; and __fish_seen_subcommand_from show" -l color -d 'When to colour what is written' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c podward -n "__fish_podward_using_subcommand skills; and __fish_seen_subcommand_from show" -l log -d 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)' -r
complete -c podward -n "__fish_podward_using_subcommand skills; and __fish_seen_subcommand_from show" -l log-file -d 'Append diagnostics to this file instead of standard error, as JSON lines' -r -F
complete -c podward -n "__fish_podward_using_subcommand skills; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c podward -n "__fish_podward_using_subcommand skills; and __fish_seen_subcommand_from show" -s V -l version -d 'Print version'
complete -c podward -n "__fish_podward_using_subcommand skills; and __fish_seen_subcommand_from lint" -l manifest -d 'The pod\'s manifest; without it, the layers of the machine, the user and the project alone' -r -F
complete -c podward -n "__fish_podward_using_subcommand skills; and __fish_seen_subcommand_from lint" -l permissions -d 'One more layer of rules, which can only tighten: a TOML file that holds `[permissions]`' -r -F
complete -c podward -n "__fish_podward_using_subcommand skills; and __fish_seen_subcommand_from lint" -l format -d 'How to print; JSON has a line for each finding' -r -f -a "text\t'For people'
json\t'For programs'"
complete -c podward -n "__fish_podward_using_subcommand skills; and __fish_seen_subcommand_from lint" -l color -d 'When to colour what is written' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c podward -n "__fish_podward_using_subcommand skills; and __fish_seen_subcommand_from lint" -l log -d 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)' -r
complete -c podward -n "__fish_podward_using_subcommand skills; and __fish_seen_subcommand_from lint" -l log-file -d 'Append diagnostics to this file instead of standard error, as JSON lines' -r -F
complete -c podward -n "__fish_podward_using_subcommand skills; and __fish_seen_subcommand_from lint" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c podward -n "__fish_podward_using_subcommand skills; and __fish_seen_subcommand_from lint" -s V -l version -d 'Print version'
complete -c podward -n "__fish_podward_using_subcommand skills; and __fish_seen_subcommand_from end" -l color -d 'When to colour what is written' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c podward -n "__fish_podward_using_subcommand skills; and __fish_seen_subcommand_from end" -l log -d 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)' -r
complete -c podward -n "__fish_podward_using_subcommand skills; and __fish_seen_subcommand_from end" -l log-file -d 'Append diagnostics to this file instead of standard error, as JSON lines' -r -F
complete -c podward -n "__fish_podward_using_subcommand skills; and __fish_seen_subcommand_from end" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c podward -n "__fish_podward_using_subcommand skills; and __fish_seen_subcommand_from end" -s V -l version -d 'Print version'
complete -c podward -n "__fish_podward_using_subcommand undo" -l color -d 'When to colour what is written' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c podward -n "__fish_podward_using_subcommand undo" -l log -d 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)' -r
complete -c podward -n "__fish_podward_using_subcommand undo" -l log-file -d 'Append diagnostics to this file instead of standard error, as JSON lines' -r -F
complete -c podward -n "__fish_podward_using_subcommand undo" -l list -d 'Show what calls changed, and which are undone; change nothing'
complete -c podward -n "__fish_podward_using_subcommand undo" -l dry-run -d 'Show what would be done; the workspace is not changed'
complete -c podward -n "__fish_podward_using_subcommand undo" -l force -d 'Also overwrite what has changed since; it is kept, so that this can be undone too'
complete -c podward -n "__fish_podward_using_subcommand undo" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c podward -n "__fish_podward_using_subcommand undo" -s V -l version -d 'Print version'
complete -c podward -n "__fish_podward_using_subcommand completions" -l color -d 'When to colour what is written' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c podward -n "__fish_podward_using_subcommand completions" -l log -d 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)' -r
complete -c podward -n "__fish_podward_using_subcommand completions" -l log-file -d 'Append diagnostics to this file instead of standard error, as JSON lines' -r -F
complete -c podward -n "__fish_podward_using_subcommand completions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c podward -n "__fish_podward_using_subcommand completions" -s V -l version -d 'Print version'
complete -c podward -n "__fish_podward_using_subcommand child" -l color -d 'When to colour what is written' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c podward -n "__fish_podward_using_subcommand child" -l log -d 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)' -r
complete -c podward -n "__fish_podward_using_subcommand child" -l log-file -d 'Append diagnostics to this file instead of standard error, as JSON lines' -r -F
complete -c podward -n "__fish_podward_using_subcommand child" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c podward -n "__fish_podward_using_subcommand child" -s V -l version -d 'Print version'
complete -c podward -n "__fish_podward_using_subcommand man" -l color -d 'When to colour what is written' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c podward -n "__fish_podward_using_subcommand man" -l log -d 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)' -r
complete -c podward -n "__fish_podward_using_subcommand man" -l log-file -d 'Append diagnostics to this file instead of standard error, as JSON lines' -r -F
complete -c podward -n "__fish_podward_using_subcommand man" -l list -d 'Print the names of all pages'
complete -c podward -n "__fish_podward_using_subcommand man" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c podward -n "__fish_podward_using_subcommand man" -s V -l version -d 'Print version'
complete -c podward -n "__fish_podward_using_subcommand schema" -l color -d 'When to colour what is written' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always'
never\t'Never'"
complete -c podward -n "__fish_podward_using_subcommand schema" -l log -d 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)' -r
complete -c podward -n "__fish_podward_using_subcommand schema" -l log-file -d 'Append diagnostics to this file instead of standard error, as JSON lines' -r -F
complete -c podward -n "__fish_podward_using_subcommand schema" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c podward -n "__fish_podward_using_subcommand schema" -s V -l version -d 'Print version'
