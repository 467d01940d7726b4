// SPDX-License-Identifier: GPL-2.0
#include "model/variable.h"

#include <cstdio>

namespace lockscope {

namespace {

std::string plus_offset(std::uint32_t offset)
{
	char text[16];
	std::snprintf(text, sizeof(text), "+0x%x", offset);
	return text;
}

/// The field in a lock's name: "i_lock" of "struct inode.i_lock".
std::string field_of(const LockClass &lock)
{
	const auto at = lock.name.find(" struct ");
	const auto dot = at == lock.name.npos ? at : lock.name.find('.', at);
	return dot == lock.name.npos ? std::string() : lock.name.substr(dot + 1);
}

} // namespace

std::string data_name(ls_data_kind kind, const std::string &module, const std::string &name)
{
	const bool symbol = kind == LS_DATA_STATIC || kind == LS_DATA_PERCPU;
	if (!symbol || name.find(':') != name.npos)
		return name;
	std::string out = kind == LS_DATA_PERCPU ? "percpu:" : "";
	if (!module.empty() && module != "vmlinux")
		out += module + ":";
	return out + name;
}

Variable variable_of(const Model &model, const MemoryAccess &access)
{
	Variable out;
	if (access.data == kNoData) {
		out.name = out.stable = "memory without a name";
		out.brief = "memory";
		return out;
	}
	const Data &data = model[access.data];
	const std::string &member = access.member;
	const std::string offset = plus_offset(access.offset);
	const std::string typed =
		data.type.empty() || member.empty() ? data.type : data.type + "." + member;
	out.type = typed;
	switch (data.kind) {
	case LS_DATA_STATIC:
	case LS_DATA_PERCPU:
		/* An offset without a member, other than 0. */
		out.name = data.name + (!member.empty() ? (member[0] == '[' ? "" : ".") + member
					: access.offset ? offset
							: "");
		out.stable = out.name;
		out.brief = out.name.substr(out.name.rfind(':') + 1);
		return out;
	case LS_DATA_SLAB:
		out.name = data.name + offset + (member.empty() ? "" : " " + typed);
		out.stable = member.empty() ? out.name : data.name + " " + typed;
		out.brief = member.empty() ? out.name : typed;
		return out;
	case LS_DATA_ALLOC:
		out.name = (member.empty() ? "object" + offset : typed) + " @ " + data.name;
		out.stable = out.name;
		out.brief = member.empty() ? "object" + offset + " of " + data.name : typed;
		return out;
	default:
		out.name = out.stable = "memory accessed in " + data.name;
		out.brief = "memory";
		return out;
	}
}

std::string guard_name(const LockClass *lock, const Guard &guard, const std::string &self,
		       const std::string &pointer, const std::string &behind)
{
	const std::string offset = plus_offset(guard.lock_offset);
	switch (guard.relation) {
	case LS_REL_SELF:
		if (!self.empty())
			return "self." + self;
		if (lock)
			if (auto field = field_of(*lock); !field.empty())
				return "self." + field;
		return "self" + offset;
	case LS_REL_VIA: {
		const std::string field = !behind.empty() ? behind : lock ? field_of(*lock) : "";
		return "via " + (pointer.empty() ? plus_offset(guard.via) : pointer) + " " +
		       (field.empty() ? offset : "." + field);
	}
	default:
		return lock ? lock->name : "a lock";
	}
}

std::vector<std::string> lockset_of(const MemoryAccess &access)
{
	std::vector<std::string> out;
	for (const auto &guard : access.guards)
		out.push_back(guard.name + (guard.exclusive() ? "" : " (shared)"));
	const auto level = level_of(access.where);
	if (level >= LS_HARDIRQ || (access.where & LS_VAL_IRQ_OFF))
		out.push_back("irq");
	else if (level == LS_SOFTIRQ || (access.where & LS_VAL_BH_OFF))
		out.push_back("bh");
	else if (access.where & LS_WHERE_PREEMPT_OFF)
		out.push_back("preempt");
	if (access.where & LS_WHERE_RCU)
		out.push_back("rcu");
	if (access.where & LS_WHERE_SEQ_READ)
		out.push_back("seqcount (shared)");
	if (access.where & LS_WHERE_SEQ_WRITE)
		out.push_back("seqcount");
	return out;
}

} // namespace lockscope
