# SPDX-License-Identifier: GPL-2.0
# The comparison itself; see compare, which is how to call it. $documented and
# $inferred are lists of one file each, $least is how many rules have to be judged.

# Structs that lie in others: [outer, member, inner]. Objects have the outer type.
def parts:
  [["ext4_inode_info", "vfs_inode", "inode"], ["shmem_inode_info", "vfs_inode", "inode"],
   ["proc_inode", "vfs_inode", "inode"], ["socket_alloc", "vfs_inode", "inode"],
   ["bdev_inode", "vfs_inode", "inode"], ["bdev_inode", "bdev", "block_device"],
   ["inode", "i_data", "address_space"], ["unix_sock", "sk", "sock"],
   ["ovl_inode", "vfs_inode", "inode"], ["v9fs_inode", "netfs.inode", "inode"],
   ["inotify_inode_mark", "fsn_mark", "fsnotify_mark"],
   ["backing_dev_info", "wb", "bdi_writeback"], ["files_struct", "fdtab", "fdtable"]];

# Locks that go by their variable, as documented: fs/locks.c:136.
def by_variable: {"other.percpu:file_lock_list": "other.file_lock_list_struct.lock"}[.] // .;

# {struct, member, prefix}: every way to see it, as a member of inner structs too.
def views:
  recurse(. as $v | parts[] | select(.[0] == $v.struct) | . as [$outer, $part, $inner]
    | select($v.member | startswith($part + "."))
    | {struct: $inner, member: $v.member[($part | length) + 1:], prefix: "\($v.prefix)\($part)."});

def bare_type: sub("^(struct|union) "; "") | sub("\\[.*$"; "");

# A term as the documentation would name it, seen from the struct at $prefix.
def from($prefix):
  if startswith("self." + $prefix) then "self." + .[($prefix | length) + 5:]
  elif startswith("via." + $prefix) then "via." + .[($prefix | length) + 4:]
  elif startswith("global.") then sub("^global\\.([A-Za-z0-9_]+:)?"; "global.") | sub("\\+0x[0-9a-f]+$"; "")
  elif startswith("other.") then sub(" @ .*$"; "") | gsub("->"; ".") | gsub("&"; "") | by_variable
  else . end;

# The lock of a path, whatever leads to it: "other.journal_s.j_list_lock" and
# "via.i_transaction.t_journal.j_list_lock" are alike. Names that every struct has
# for its lock are not enough: then the struct has to sound like the pointer.
def alike($documented):
  (.[6:] | index(".")) as $dot | .[6:6 + $dot] as $struct | .[7 + $dot:] as $path
  | ($documented | split(".")) as $words
  | any(range(2; $words | length); ($words[.:] | join(".")) == $path
      and ($path != "lock" and $path != "mutex" or ($struct | contains($words[1]))
        or ($words[0] == "other" and $words[1] == $struct)));

# Is the inferred term the documented one? 2: yes; 1: perhaps, the object was not checked; 0:
# no.
def match($documented):
  if . == $documented then 2
  elif ($documented | startswith("global.")) and startswith($documented + ".") then 2
  elif startswith("other.") then
    if (.[6:] | contains(".") | not) or ($documented | test("^(via|other)\\.") | not) then 0
    elif alike($documented) then 1
    else (.[6:] | split(".")) as $words
      | {struct: $words[0], member: ($words[1:] | join(".")), prefix: ""}
      | if any(views; "other.\(.struct).\(.member)" == $documented) then 1 else 0 end
    end
  elif startswith("via.") and ($documented | startswith("other.")) then
    ($documented | split(".")[2:] | join(".")) as $path
    | if endswith("." + $path) then 1 else 0 end
  elif test("^via\\.\\+") and ($documented | startswith("via.")) then
    if ($documented | split(".")[-1:]) == (split(".")[-1:]) then 1 else 0 end
  else 0 end;

def alternatives: split(" | ") | map(split(" & "));

# How surely do these terms, all of them held, include what is documented? 0 to 2.
def included($terms):
  alternatives | map(map(. as $one | [$terms[] | match($one)] | max // 0) | min) | max;

def seen:
  $inferred[0].rules[] | . as $rule
  | {struct: (.type | bare_type), member: (.member | sub("^\\[[^]]*\\]\\.?"; "")), prefix: ""} | views
  | . as $view | {struct, member, rule: $rule, access: $rule.access,
      verdict: $rule.verdict, of: $rule.of, z: $rule.z,
      inferred: ($rule.guard // (if $rule.why == "" then $rule.verdict else $rule.why end)),
      all: (($rule.guard // "") | contains(" | ") | not),
      terms: (($rule.guard // "") | if . == "" then [] else split(" [&|] "; null) | map(from($view.prefix)) end),
      # What was held often enough, whether or not it was called the guard.
      held: [$rule.hypotheses[] | select(.of >= $inferred[0].least_evidence
          and .holds >= .of * $inferred[0].least_share
          and (.mode == "w" or $rule.access == "read")
          and (.terms | length) == 1) | .terms[0] | from($view.prefix)]};

# The accesses that hold no lock of the documented name are all in functions that
# the remark names.
def explained($rule; $documented):
  ($documented.guard | split(" [&|] "; null) | map(split(".")[-1])) as $names
  | [$rule.examples[], $rule.counterexamples[]
      | select(.lockset as $held | all($names[]; . as $name
          | all($held[]; test("(^|[^A-Za-z0-9_])\($name)([^A-Za-z0-9_]|$)") | not)))]
  | length > 0 and all(.[]; any(.stack[0:3][]; .function as $f
      | $documented.but | test("(^|[^A-Za-z0-9_])\($f)([^A-Za-z0-9_]|$)")));

def judge($documented):
  . as $seen | ($documented.guard) as $guard
  | (if .verdict != "guarded" then 0
     elif .all then $guard | included($seen.terms)
     else [.terms[] as $term | $guard | included([$term])] | min end) as $sure
  | ($guard | included($seen.held)) as $held
  | (any($guard | split(" & ")[]; . as $one | any($seen.terms[]; match($one) > 0))) as $part
  | if .verdict == "too-few" then "too few accesses"
    elif $sure == 2 then "agrees"
    elif $sure == 1 or $held == 1 then "agrees, object not checked"
    elif $held == 2 then "partly: held as well"
    elif $part and ($guard | contains(" & ")) then "partly: one of two locks"
    elif explained(.rule; $documented) then "explained"
    else "disagrees" end
  | . as $status | $seen + {status: $status};

def rank: {"a": 3, "p": 2, "e": 1, "d": 0}[.[0:1]];
def pad($n): . + " " * ([1, $n - length] | max);

[seen] as $all
| [$documented[0].rules[] | . as $rule
  | [$all[] | select(.struct == $rule.struct and (.member == $rule.member
        or (.member | startswith($rule.member + ".") or startswith($rule.member + "[")))
      and ($rule.access == "any" or .access == "any" or .access == $rule.access))
      | judge($rule)] as $found
  # Of one kind of access what was seen most; of two kinds the worse.
  | [$found | map(select(.status != "too few accesses")) | group_by(.access)[] | max_by(.of)]
  | (min_by(.status | rank) // ($found | max_by(.of))) as $one
  | {rule: $rule, name: "\($rule.struct).\($rule.member)", n: ($one.of // 0),
     inferred: ($one.inferred // "-"), status: ($one.status // "not observed"),
     found: $found}] as $table
| ($table | map(select(.status != "not observed"))) as $observed
| ($observed | map(select(.status != "too few accesses"))) as $judged
| ($judged | map(select(.status | rank >= 2)) | length) as $agree
| (if $judged == [] then 0 else $agree * 1000 / ($judged | length) | floor / 10 end) as $percent
| ($table[] | "\(.name | pad(42)) \(.rule.access | pad(6)) \(.rule.guard | pad(48)) \(.n | tostring | pad(5)) \(.status): \(.inferred)"),
  "",
  "\($table | length) documented rules, \($observed | length) observed, \($judged | length) judged",
  ($judged | group_by(.status)[] | "  \(length | tostring | pad(4)) \(.[0].status)  \(length * 1000 / ($judged | length) | floor / 10) %"),
  "  \($percent) % agree, partly included",
  ($table[] | .rule as $rule | .name as $name | .found[]
    | select(.status == "disagrees" and .verdict == "guarded" and .z >= $inferred[0].sure_z)
    | "contradiction: \($name) (\(.access) of \(.rule.variable)): documented \($rule.guard), inferred \(.inferred), \(.rule.holds) of \(.of), z \(.z)"),
  (if ($judged | length) < $least then "too few rules judged: \($judged | length) of \($least)"
   elif $percent < 80 then "too few agree: \($percent) %"
   else "ok" end)
