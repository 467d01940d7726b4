// SPDX-License-Identifier: GPL-2.0
/*
 * attach OBJECT COMMAND...: attaches the programs of a BPF object while the command runs. Ends
 * with the command's exit status, or 3 when something cannot be loaded or attached. An
 * example, see docs/bpf.md.
 */
#include <bpf/libbpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int fail(const char *what, const char *name)
{
	/* libbpf has printed the reason on standard error. */
	fprintf(stderr, "attach: cannot %s %s\n", what, name);
	return 3;
}

int main(int argc, char **argv)
{
	struct bpf_program *program;
	struct bpf_object *object;
	int status;
	pid_t pid;

	if (argc < 3) {
		fprintf(stderr, "usage: %s OBJECT COMMAND...\n", argv[0]);
		return 2;
	}
	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	object = bpf_object__open(argv[1]);
	if (!object)
		return fail("open", argv[1]);
	if (bpf_object__load(object))
		return fail("load", argv[1]);
	bpf_object__for_each_program(program, object)
		if (!bpf_program__attach(program))
			return fail("attach", bpf_program__name(program));

	pid = fork();
	if (pid == 0) {
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return fail("run", argv[2]);
	/* Programs are detached when this process exits. */
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
