// SPDX-License-Identifier: GPL-2.0
#include "analysis/filters/annotations.h"

#include "util/text.h"

#include <algorithm>

namespace lockscope::annotations {

namespace {

const Table *table_of(const Model &model, const std::string &release)
{
	auto at = model.annotations.find(release);
	return at == model.annotations.end() ? nullptr : at->second.get();
}

/* Annotations in the functions of @stack, innermost first. */
std::vector<const Note *> notes_in(const Model &model, const std::string &release,
				   const std::vector<CodeId> &stack)
{
	std::vector<const Note *> out;
	const Table *table = table_of(model, release);
	for (std::size_t i = 0; table && i < stack.size(); i++) {
		const Code &code = model[stack[i]];
		const auto *notes =
			table->find(code.module.empty() ? "vmlinux" : code.module, code.build_id);
		if (!notes)
			continue;
		if (auto at = notes->in_function.find(code.function);
		    at != notes->in_function.end())
			for (auto n : at->second)
				out.push_back(&table->notes[n]);
	}
	return out;
}

} // namespace

Status load(Model &model)
{
	for (const auto &run : model.runs) {
		if (run.backend == kTraceBackend)
			continue;
		auto [at, added] = model.annotations.try_emplace(run.release);
		if (!added)
			continue;
		auto table = find_table(run.release);
		if (!table)
			return table.error();
		at->second = *table;
	}
	return success();
}

/*
 * A function that passes its caller's subclass on has an expression in its own call; the
 * caller's call has the value.
 */
Acquire acquire(const Model &model, const std::string &release, const std::vector<CodeId> &stack)
{
	Acquire out;
	const Table *table = table_of(model, release);
	if (!table || stack.empty())
		return out;
	const Code &innermost = model[stack.front()];
	const std::string module = innermost.module.empty() ? "vmlinux" : innermost.module;
	out.known = table->find(module, innermost.build_id) != nullptr;
	const AnnotatedCall *call = nullptr;
	for (auto frame : stack) {
		const Code &code = model[frame];
		const auto *next = table->call(code.module.empty() ? "vmlinux" : code.module,
					       code.build_id, code.function, code.offset, call);
		if (!next)
			break;
		call = next;
		out.note = &(*table)[*call];
		out.subclass = call->subclass;
		if (out.note->says != Says::Subclass || out.subclass != kNotConstant)
			break;
	}
	return out;
}

std::vector<std::string> asserted(const Model &model, const std::string &release,
				  const std::vector<CodeId> &stack)
{
	std::vector<std::string> out;
	for (const Note *note : notes_in(model, release, stack)) {
		std::string text = note->text + " in " + note->function + "(), " + note->file +
				   ':' + std::to_string(note->line);
		if (note->says == Says::Held &&
		    std::find(out.begin(), out.end(), text) == out.end())
			out.push_back(std::move(text));
	}
	return out;
}

const Note *masked_line(const Model &model, const std::string &release,
			const std::vector<CodeId> &stack)
{
	for (const Note *note : notes_in(model, release, stack))
		if (note->says == Says::IrqLine)
			return note;
	return nullptr;
}

std::string missing(const Model &model)
{
	std::vector<std::string> releases;
	for (const auto &[release, table] : model.annotations)
		if (!table)
			releases.push_back(release);
	if (releases.empty())
		return {};
	return "none for " + join(releases, ", ") +
	       ": nestings that authors declared are judged as plain ones";
}

} // namespace lockscope::annotations
