
use builtin;
use str;

set edit:completion:arg-completer[podward] = {|@words|
    fn spaces {|n|
        builtin:repeat $n ' ' | str:join ''
    }
    fn cand {|text desc|
        edit:complex-candidate $text &display=$text' '(spaces (- 14 (wcswidth $text)))$desc
    }
    var command = 'podward'
    for word $words[1..-1] {
        if (str:has-prefix $word '-') {
            break
        }
        set command = $command';'$word
    }
    var completions = [
        &'podward'= {
            cand --color 'When to colour what is written'
            cand --log 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)'
            cand --log-file 'Append diagnostics to this file instead of standard error, as JSON lines'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
            cand run 'Run an agent on a prompt'
            cand serve 'Keep a pod that takes prompts and answers on its socket'
            cand attach 'Show what pods do on a full screen, and answer what they ask'
            cand send 'Give a served pod a prompt'
            cand cancel 'Cancel what a pod is doing; it waits for the next prompt'
            cand stop 'Stop a pod'
            cand pods 'List the pods that run'
            cand pending 'Show what pods ask'
            cand reply 'Answer what a pod asks'
            cand check 'Judge a call, or files of cases, without running anything'
            cand explain 'Explain a verdict: every rule that was tried, and what would change it'
            cand lint 'Find rules that do not do what their author means'
            cand test 'Run the tests beside rules, and files of cases'
            cand tools 'List the tools: which are offered to the model, and why not'
            cand manifest 'Print the manifest that results from all layers, every line with its origin'
            cand trust 'Trust what a project''s .podward/ sets, as it is now'
            cand grants 'Show and take back what was approved for more than one call'
            cand skills 'List, show or check skills, and the tools that they restrict an agent to'
            cand undo 'Bring back what a call changed in the workspace'
            cand completions 'Print a shell''s completions'
            cand child 'Be the child of a pod: for pods to start'
            cand man 'Print a man page'
            cand schema 'Print the JSON Schema of what other programs read or write'
        }
        &'podward;run'= {
            cand --format 'What to write to standard output: the model''s text, or every event as a line of JSON'
            cand --resume 'Go on with an earlier session: its id, or a beginning that no other session shares'
            cand --skill 'Start this skill with the prompt, which may then be absent: `/NAME` before the prompt is the same'
            cand --auto 'Answer what would be asked about with yes, once each; `all`: also what cannot be known before'
            cand --permissions 'One more layer of rules, which can only tighten: a TOML file that holds `[permissions]`'
            cand --color 'When to colour what is written'
            cand --log 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)'
            cand --log-file 'Append diagnostics to this file instead of standard error, as JSON lines'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'podward;serve'= {
            cand --format 'What to write to standard output: the model''s text, or every event as a line of JSON'
            cand --resume 'Go on with an earlier session; without an ID, with the newest one of this manifest'
            cand --auto 'Answer what would be asked about with yes, once each; `all`: also what cannot be known before'
            cand --permissions 'One more layer of rules, which can only tighten: a TOML file that holds `[permissions]`'
            cand --color 'When to colour what is written'
            cand --log 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)'
            cand --log-file 'Append diagnostics to this file instead of standard error, as JSON lines'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'podward;attach'= {
            cand --color 'When to colour what is written'
            cand --log 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)'
            cand --log-file 'Append diagnostics to this file instead of standard error, as JSON lines'
            cand --plain 'Write lines instead of filling the screen, for screen readers and logs'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'podward;send'= {
            cand --skill 'Start this skill with the prompt, which may then be absent: `/NAME` before the prompt is the same'
            cand --format 'What to write to standard output while following'
            cand --color 'When to colour what is written'
            cand --log 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)'
            cand --log-file 'Append diagnostics to this file instead of standard error, as JSON lines'
            cand --wait 'Follow the turn to its end, as `podward run` does'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'podward;cancel'= {
            cand --color 'When to colour what is written'
            cand --log 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)'
            cand --log-file 'Append diagnostics to this file instead of standard error, as JSON lines'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'podward;stop'= {
            cand --color 'When to colour what is written'
            cand --log 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)'
            cand --log-file 'Append diagnostics to this file instead of standard error, as JSON lines'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'podward;pods'= {
            cand --format 'How to print'
            cand --color 'When to colour what is written'
            cand --log 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)'
            cand --log-file 'Append diagnostics to this file instead of standard error, as JSON lines'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'podward;pending'= {
            cand --format 'How to print; JSON has one question a line, with its digest'
            cand --color 'When to colour what is written'
            cand --log 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)'
            cand --log-file 'Append diagnostics to this file instead of standard error, as JSON lines'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'podward;reply'= {
            cand --digest 'The digest of the question that is answered, from `podward pending`'
            cand --feedback '`reject`: what the model shall read, word for word'
            cand --arguments '`edit`: the new arguments, a JSON object; `-` reads it from standard input'
            cand --width '`always`: which of the offered widths, 1 being the narrowest'
            cand --pattern '`always`: a pattern of your own; with `N=` in front where several parts of the call ask'
            cand --for '`always`: for how long; `session` (the default), `project`, a time, or a number of uses'
            cand --format 'How to print what the answer settled'
            cand --color 'When to colour what is written'
            cand --log 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)'
            cand --log-file 'Append diagnostics to this file instead of standard error, as JSON lines'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'podward;check'= {
            cand --manifest 'The manifest whose rules judge; only `[permissions]` is needed'
            cand --tool 'The tool''s name'
            cand --input 'The call''s arguments: a JSON object'
            cand --workspace 'The workspace that paths are relative to; the manifest''s own, or the current directory'
            cand --cases 'Judge the cases of these JSON Lines files, each with a manifest of its own, always isolated'
            cand --format 'How to print'
            cand --permissions 'One more layer of rules, which can only tighten: a TOML file that holds `[permissions]`'
            cand --color 'When to colour what is written'
            cand --log 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)'
            cand --log-file 'Append diagnostics to this file instead of standard error, as JSON lines'
            cand --isolated 'Judge by this manifest alone: no other layer is read, no symlink resolved'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'podward;explain'= {
            cand --session 'The session: its id or a beginning of it; without it, the newest that has such a call'
            cand --manifest 'The manifest whose rules judge; of a call of a session, instead of the one it ran with'
            cand --tool 'The tool''s name'
            cand --input 'The call''s arguments: a JSON object'
            cand --workspace 'The workspace that paths are relative to; the manifest''s own, or the current directory'
            cand --format 'How to print'
            cand --permissions 'One more layer of rules, which can only tighten: a TOML file that holds `[permissions]`'
            cand --color 'When to colour what is written'
            cand --log 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)'
            cand --log-file 'Append diagnostics to this file instead of standard error, as JSON lines'
            cand --isolated 'Judge by this manifest alone: no other layer is read, no symlink resolved'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'podward;lint'= {
            cand --allow 'Leave out findings of a kind; may be given several times'
            cand --format 'How to print'
            cand --permissions 'One more layer of rules, which can only tighten: a TOML file that holds `[permissions]`'
            cand --color 'When to colour what is written'
            cand --log 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)'
            cand --log-file 'Append diagnostics to this file instead of standard error, as JSON lines'
            cand --isolated 'Look into these manifests alone: no other layer is read'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'podward;test'= {
            cand --format 'How to print'
            cand --color 'When to colour what is written'
            cand --log 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)'
            cand --log-file 'Append diagnostics to this file instead of standard error, as JSON lines'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'podward;tools'= {
            cand --format 'How to print; JSON has each tool''s schema'
            cand --permissions 'One more layer of rules, which can only tighten: a TOML file that holds `[permissions]`'
            cand --color 'When to colour what is written'
            cand --log 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)'
            cand --log-file 'Append diagnostics to this file instead of standard error, as JSON lines'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'podward;manifest'= {
            cand --permissions 'One more layer of rules, which can only tighten: a TOML file that holds `[permissions]`'
            cand --color 'When to colour what is written'
            cand --log 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)'
            cand --log-file 'Append diagnostics to this file instead of standard error, as JSON lines'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'podward;trust'= {
            cand --color 'When to colour what is written'
            cand --log 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)'
            cand --log-file 'Append diagnostics to this file instead of standard error, as JSON lines'
            cand --revoke 'Forget that the project was trusted'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'podward;grants'= {
            cand --color 'When to colour what is written'
            cand --log 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)'
            cand --log-file 'Append diagnostics to this file instead of standard error, as JSON lines'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
            cand list 'List what was approved for more than one call'
            cand revoke 'Take back what was approved'
            cand explain 'Show what a grant covers, who gave it, when and why'
        }
        &'podward;grants;list'= {
            cand --workspace 'Only the grants of this workspace; default: of all'
            cand --format 'How to print; JSON has a line for each grant'
            cand --color 'When to colour what is written'
            cand --log 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)'
            cand --log-file 'Append diagnostics to this file instead of standard error, as JSON lines'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'podward;grants;revoke'= {
            cand --workspace 'With --all: only those of this workspace'
            cand --color 'When to colour what is written'
            cand --log 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)'
            cand --log-file 'Append diagnostics to this file instead of standard error, as JSON lines'
            cand --all 'All grants, and all lines of their files that cannot be read'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'podward;grants;explain'= {
            cand --format 'How to print'
            cand --color 'When to colour what is written'
            cand --log 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)'
            cand --log-file 'Append diagnostics to this file instead of standard error, as JSON lines'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'podward;skills'= {
            cand --color 'When to colour what is written'
            cand --log 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)'
            cand --log-file 'Append diagnostics to this file instead of standard error, as JSON lines'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
            cand list 'List the skills of `[skills] directories`'
            cand show 'Show one of them: what it says of itself, and the rules that its lists come to'
            cand lint 'Check skills before any run: format, names of tools, lists that say too much or nothing'
            cand end 'End a skill that is active in a pod: what it restricts is free again'
        }
        &'podward;skills;list'= {
            cand --manifest 'The pod''s manifest; without it, the layers of the machine, the user and the project alone'
            cand --permissions 'One more layer of rules, which can only tighten: a TOML file that holds `[permissions]`'
            cand --format 'How to print'
            cand --color 'When to colour what is written'
            cand --log 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)'
            cand --log-file 'Append diagnostics to this file instead of standard error, as JSON lines'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'podward;skills;show'= {
            cand --manifest 'The pod''s manifest; without it, the layers of the machine, the user and the project alone'
            cand --permissions 'One more layer of rules, which can only tighten: a TOML file that holds `[permissions]`'
            cand --format 'How to print'
            cand --color 'When to colour what is written'
            cand --log 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)'
            cand --log-file 'Append diagnostics to this file instead of standard error, as JSON lines'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'podward;skills;lint'= {
            cand --manifest 'The pod''s manifest; without it, the layers of the machine, the user and the project alone'
            cand --permissions 'One more layer of rules, which can only tighten: a TOML file that holds `[permissions]`'
            cand --format 'How to print; JSON has a line for each finding'
            cand --color 'When to colour what is written'
            cand --log 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)'
            cand --log-file 'Append diagnostics to this file instead of standard error, as JSON lines'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'podward;skills;end'= {
            cand --color 'When to colour what is written'
            cand --log 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)'
            cand --log-file 'Append diagnostics to this file instead of standard error, as JSON lines'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'podward;undo'= {
            cand --color 'When to colour what is written'
            cand --log 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)'
            cand --log-file 'Append diagnostics to this file instead of standard error, as JSON lines'
            cand --list 'Show what calls changed, and which are undone; change nothing'
            cand --dry-run 'Show what would be done; the workspace is not changed'
            cand --force 'Also overwrite what has changed since; it is kept, so that this can be undone too'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'podward;completions'= {
            cand --color 'When to colour what is written'
            cand --log 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)'
            cand --log-file 'Append diagnostics to this file instead of standard error, as JSON lines'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'podward;child'= {
            cand --color 'When to colour what is written'
            cand --log 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)'
            cand --log-file 'Append diagnostics to this file instead of standard error, as JSON lines'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'podward;man'= {
            cand --color 'When to colour what is written'
            cand --log 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)'
            cand --log-file 'Append diagnostics to this file instead of standard error, as JSON lines'
            cand --list 'Print the names of all pages'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'podward;schema'= {
            cand --color 'When to colour what is written'
            cand --log 'What to log: a level (`debug`) or a filter (`podward_worker=trace,info`)'
            cand --log-file 'Append diagnostics to this file instead of standard error, as JSON lines'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
    ]
    $completions[$command]
}
