# SPDX-License-Identifier: GPL-2.0
# Compares a report with the table of seeded cases. Use lib/judge.
#
# Input: a lockscope-report/1. $list: the table, one case a line,
# "NAME fault|twin GROUP KIND PATTERN...". $wanted: names to judge, [] for all.
#
# A finding belongs to the cases whose functions its stacks show: every function of a case
# begins with the case's name, and the longest name that fits wins. Where no stack shows any (a
# task ends, or runs in user mode), the names of the locks identify it in the same way. It is
# no finding where a filter hides it. Cases share no lock, so a finding across two of them is
# wrong in itself: the tool took one lock for another.

def cases:
  $list | split("\n") | map(select(length > 0) | split(" ")
    | { name: .[0], verdict: .[1], group: .[2], kind: .[3],
        patterns: .[4:] | map(select(length > 0)) });

# Findings that one place shows by itself have stacks in place of edges, races accesses.
def stack_frames: [(.edges[]? | (.from_stack[]?, .to_stack[]?)), ((.stacks, .accesses)[]? | .stack[]?)];

# The functions that access, those inlined into them too, as far as their lines are known.
def accessing:
  [.accesses[]?.stack | . as $s
    | (first(range(length) | select($s[.].inlined | not)) // length - 1) as $n
    | $s[:$n + 1][] | select((.file // "") != "" and (.line // 0) > 0) | .function];

# What a finding is about: its classes, and the locks held where it is about none.
def named: [.classes[]?.name, (.stacks[]? | .held[]?)];

# Longest name first, so that the first that fits is the one.
def case_of($function; $names):
  first($names[] as $name | select($function | startswith($name + "_")) | $name) // null;

def cases_of_words($names):
  map(case_of(.; $names)) | map(select(. != null)) | unique;

def cases_of($names):
  [stack_frames[] | select(.module == "ls_selftest" or .module == "ls_races") | .function] as $functions
  | [named[] | scan("[A-Za-z0-9_]+")] as $words
  | ($functions | cases_of_words($names)) as $by_stack
  | if $by_stack != [] then $by_stack else $words | cases_of_words($names) end;

# "name" fits a whole word of a class's name, "name*" the beginning of one;
# "kind=KIND" the kind of a class. Of a race: "side=FUNCTION" accesses, by file and
# line, and there are at least two accesses; "variable=NAME" is a word of what is
# accessed; "severity=" and "severity!=".
def as_regex:
  gsub("(?<c>[][().+?^$|\\\\{}])"; "\\\(.c)")
  | if endswith("*") then "(^|[^A-Za-z0-9_])" + .[:-1]
    else "(^|[^A-Za-z0-9_])" + . + "($|[^A-Za-z0-9_])" end;

def missing_patterns($patterns):
  named as $names
  | [.classes[].kind] as $kinds
  | . as $finding
  | [$patterns[] | . as $p
      | select((if $p | startswith("kind=") then $kinds | index($p[5:])
                elif $p | startswith("side=") then
                  ($finding.accesses | length) > 1 and ($finding | accessing | index($p[5:]) != null)
                elif $p | startswith("variable=") then
                  $finding.variable.name // "" | test($p[9:] | as_regex)
                elif $p | startswith("severity=") then $finding.severity == $p[9:]
                elif $p | startswith("severity!=") then $finding.severity != $p[10:]
                elif $p | startswith("never=") then $finding | accessing | index($p[6:]) == null
                else any($names[]; test($p | as_regex)) end) | not)];

def brief: { id, kind, title, classes: [.classes[].name] };

def verdict_of_fault($case; $findings):
  [$findings[] | select(.cases == [$case.name])] as $mine
  | [$mine[] | select(.kind == $case.kind)] as $right
  | if ($mine | length) == 0 then { ok: false, why: "not reported" }
    elif ($right | length) == 0 then
      { ok: false, why: "reported as \([$mine[].kind] | unique | join(", "))" }
    elif any($mine[]; missing_patterns($case.patterns | map(select(startswith("never=")))) != []) then
      { ok: false, why: "names what takes no part" }
    elif any($right[]; missing_patterns($case.patterns) == []) then
      { ok: true, id: $right[0].id, confidence: $right[0].confidence }
    else { ok: false,
           why: "not there: \($right[0] | missing_patterns($case.patterns) | join(", ")): \($right[0] | named + accessing | join(" | "))" }
    end;

def verdict_of_twin($case; $findings):
  [$findings[] | select(.cases == [$case.name])] as $mine
  | if ($mine | length) == 0 then { ok: true }
    else { ok: false, why: "reported: \($mine[0].title // $mine[0].kind)", id: $mine[0].id } end;

cases as $cases
| ($cases | map(.name) | sort_by(-length)) as $names
| [.findings[] | select(any(.filters[]?; .hidden) | not) | . + { cases: cases_of($names) }] as $findings
| [$cases[] | select(($wanted | length) == 0 or (.name as $n | $wanted | index($n)))] as $judged
| { faults: [$judged[] | select(.verdict == "fault")
      | . as $c | { name } + verdict_of_fault($c; $findings)],
    twins: [$judged[] | select(.verdict == "twin")
      | . as $c | { name } + verdict_of_twin($c; $findings)],
    mixed: [$findings[] | select(.cases | length > 1) | { cases } + brief],
    others: [$findings[] | select(.cases == []) | brief],
    losses: (.losses // {}) }
