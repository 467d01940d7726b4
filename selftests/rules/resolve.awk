# SPDX-License-Identifier: GPL-2.0
# resolve.awk -v questions=FILE KERNEL.types [MODULE.types]: answers questions from what
# bpftool lists of types. A question is a line of words, the first is its number:
#   N member STRUCT PATH   is there such a member? no pointer may be followed
#   N self STRUCT PATH     is it a lock, too?
#   N via STRUCT PATH      is it a lock reached through at least one pointer?
#   N function MODULE NAME is there such a function?
# Prints the number and "yes", or what is wrong.

BEGIN {
	split("spinlock raw_spinlock rwlock_t mutex rw_semaphore", names)
	for (i in names)
		lock[names[i]] = 1
}

FNR == 1 {
	module = FILENAME
	gsub(/.*\/|\.types$/, "", module)
}

/^\[/ {
	id = substr($1, 2, length($1) - 2)
	kind[id] = $2
	name[id] = substr($3, 2, length($3) - 2)
	points[id] = ""
	if (match($0, / type_id=[0-9]+/))
		points[id] = substr($0, RSTART + 9, RLENGTH - 9)
	if ($2 == "FUNC")
		function_of[module, name[id]] = 1
	else if ($2 == "STRUCT" || $2 == "UNION")
		same[name[id]] = same[name[id]] " " id
	next
}

/^\t/ {
	if (kind[id] != "STRUCT" && kind[id] != "UNION")
		next
	what = substr($1, 2, length($1) - 2)
	type = substr($2, 9)
	if (what == "(anon)")
		nameless[id] = nameless[id] " " type
	else
		member[id, what] = type
}

# The type of member @what of struct @id, in its nameless parts as well.
function find(id, what, inner, n, i, type)
{
	if ((id, what) in member)
		return member[id, what]
	n = split(nameless[id], inner, " ")
	for (i = 1; i <= n; i++)
		if ((type = find(inner[i], what)))
			return type
	return 0
}

# The type behind qualifiers, typedefs, arrays and, when allowed, one pointer.
# Says in @alias what the last typedef called it, in @followed of pointers.
function strip(type, pointers)
{
	alias = ""
	while (kind[type] ~ /^(TYPEDEF|CONST|VOLATILE|RESTRICT|ARRAY|TYPE_TAG|PTR)$/) {
		if (kind[type] == "TYPEDEF")
			alias = name[type]
		if (kind[type] == "PTR") {
			if (!pointers)
				return type
			pointers = 0
			followed++
		}
		type = points[type]
	}
	return type
}

function walk(type, path, as, part, n, i)
{
	n = split(path, part, ".")
	followed = 0
	for (i = 1; i <= n; i++) {
		type = find(type, part[i])
		if (!type)
			return "no member " part[i]
		if (i < n) {
			type = strip(type, as == "via")
			if (kind[type] == "FWD")
				type = substr(same[name[type]], 2) + 0
			if (kind[type] != "STRUCT" && kind[type] != "UNION")
				return part[i] " does not lead on"
		}
	}
	if (as == "member")
		return "yes"
	type = strip(type, 0)
	if (!(name[type] in lock) && !(alias in lock))
		return path " is not a lock"
	if (as == "via" && !followed)
		return path " follows no pointer"
	return "yes"
}

END {
	while ((getline question < questions) > 0) {
		split(question, word, " ")
		if (word[2] == "function") {
			print word[1], (word[3], word[4]) in function_of ? "yes" : "no function " word[4] " in " word[3]
			continue
		}
		answer = "no struct " word[3]
		n = split(same[word[3]], ids, " ")
		for (k = 1; k <= n && answer != "yes"; k++)
			answer = walk(ids[k], word[4], word[2])
		print word[1], answer
	}
}
