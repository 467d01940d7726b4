# SPDX-License-Identifier: GPL-2.0
# complete.zsh FOLDER OUT LINE...: what zsh completes each LINE to, with the functions of
# FOLDER, goes to OUT: "> LINE", then one word a line; "END" after the last. Completion runs in
# the line editor only, which takes a terminal: zpty is one.
setopt extended_glob
folder=$1 out=$2
shift 2
: > $out
cat > $out.setup <<-END
	fpath=(${(q)folder} \$fpath)
	autoload -Uz compinit
	compinit -D -u
	zstyle ':completion:*' completer _complete
	compadd() {
		# The caller wants the words itself.
		if [[ " \${(j: :)@[1,(i)--]} " == *' '-[OAD]' '* ]]; then
			builtin compadd "\$@"
			return
		fi
		local -a words_found
		builtin compadd -A words_found "\$@"
		print -rl -- \$words_found >> ${(q)out}
		builtin compadd "\$@"
	}
	zle -C capture complete-word _main_complete
	capture-lines() {
		local line
		for line in ${(@q)@}; do
			print -r -- "> \$line" >> ${(q)out}
			BUFFER=\$line CURSOR=\$#line
			zle capture
		done
		BUFFER=
		print END >> ${(q)out}
	}
	zle -N capture-lines
	bindkey '^I' capture-lines
END
zmodload zsh/zpty
zpty child zsh -f -i
zpty -w child "source ${(q)out}.setup"
zpty -w -n child $'\t'
for _ in {1..600}; do
	[[ "$(tail -n 1 $out)" != END ]] || break
	while zpty -r -t child ignored; do :; done
	sleep 0.1
done
zpty -d child
[[ "$(tail -n 1 $out)" == END ]]
