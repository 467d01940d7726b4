// SPDX-License-Identifier: GPL-2.0
#include "report/json_parts.h"
#include "report/printer.h"
#include "report/stat.h"
#include "report/waits.h"
#include "util/text.h"

namespace lockscope {

namespace {

std::string who(const std::string &comm, std::uint32_t pid)
{
	return comm + "-" + std::to_string(pid);
}

std::string what(const WaitingTask &task)
{
	return std::string(kind_name(task.kind)) + " " + task.lock +
	       (task.reader ? " (as a reader)" : "");
}

void stack(Printer &out, const std::vector<std::string> &places)
{
	for (const auto &place : places)
		out.line("        " + place);
}

void deadlock(Printer &out, const WaitSnapshot &snapshot, const std::vector<std::size_t> &ring)
{
	out.line(out.tone("DEADLOCK: " + counted(ring.size(), "task") +
				  (ring.size() == 1 ? " waits for itself" : " wait for each other"),
			  Tone::Red));
	for (auto i : ring) {
		const auto &task = snapshot.tasks[i];
		out.line("  " + who(task.comm, task.pid) + " has waited " +
			 duration(task.waited_ns) + " for " + what(task));
		stack(out, task.stack);
		out.line("    which " + who(task.owner.comm, task.owner.pid) + " has" +
			 (task.owner.taken.empty() ? "" : ", taken at " + task.owner.taken));
	}
	out.blank();
}

Json task_json(const WaitingTask &task)
{
	Json out = {{"pid", task.pid},	     {"comm", task.comm},
		    {"lock", task.lock},     {"kind", kind_name(task.kind)},
		    {"reader", task.reader}, {"waited_ns", task.waited_ns},
		    {"held", task.held},     {"stack", task.stack},
		    {"owner", nullptr}};
	if (task.owner.pid)
		out["owner"] = {{"pid", task.owner.pid},
				{"comm", task.owner.comm},
				{"taken",
				 task.owner.taken.empty() ? Json(nullptr) : Json(task.owner.taken)},
				{"stack", task.owner.stack}};
	return out;
}

} // namespace

std::string text_deadlocks(const WaitSnapshot &snapshot, const TextStyle &style)
{
	Printer out(style);
	for (const auto &ring : snapshot.deadlocks)
		deadlock(out, snapshot, ring);
	return out.take();
}

std::string text_waits(const WaitSnapshot &snapshot, const TextStyle &style)
{
	Printer out(style);
	for (const auto &ring : snapshot.deadlocks)
		deadlock(out, snapshot, ring);
	out.line(out.tone(counted(snapshot.tasks.size(), "task") +
				  (snapshot.tasks.size() == 1 ? " waits" : " wait") + " for a lock",
			  Tone::Bold));
	for (const auto &task : snapshot.tasks) {
		out.blank();
		out.line("  " + who(task.comm, task.pid) + " has waited " +
			 duration(task.waited_ns) + " for " + what(task) + ", holding " +
			 counted(task.held, "lock"));
		stack(out, task.stack);
		if (!task.owner.pid) {
			out.line("    nobody is known to have it");
			continue;
		}
		out.line("    " + who(task.owner.comm, task.owner.pid) + " has it" +
			 (task.owner.taken.empty() ? "" : ", taken at " + task.owner.taken) +
			 (task.owner.stack.empty() ? "; it runs" : "; it sleeps at"));
		stack(out, task.owner.stack);
	}
	return out.take();
}

std::string json_waits(const WaitSnapshot &snapshot)
{
	Json out = {{"schema", "lockscope-waits/1"},
		    {"tasks", Json::array()},
		    {"deadlocks", Json::array()}};
	for (const auto &task : snapshot.tasks)
		out["tasks"].push_back(task_json(task));
	for (const auto &ring : snapshot.deadlocks) {
		Json members = Json::array();
		for (auto i : ring)
			members.push_back(task_json(snapshot.tasks[i]));
		out["deadlocks"].push_back(std::move(members));
	}
	return dump(out);
}

} // namespace lockscope
