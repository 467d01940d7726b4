// SPDX-License-Identifier: GPL-2.0
#include "decode/prototypes.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include <filesystem>
#include <memory>

namespace lockscope {

namespace {

struct BtfFree {
	void operator()(btf *types) const { btf__free(types); }
};
using Types = std::unique_ptr<btf, BtfFree>;

Types owned(btf *types)
{
	return Types(types && !libbpf_get_error(types) ? types : nullptr);
}

/// Skip const, volatile and typedefs.
const btf_type *plain(const btf *types, std::uint32_t id)
{
	const btf_type *type = btf__type_by_id(types, id);
	while (type && (btf_is_mod(type) || btf_is_typedef(type)))
		type = btf__type_by_id(types, type->type);
	return type;
}

bool points_to(const btf *types, std::uint32_t id, const std::string &name)
{
	const btf_type *type = plain(types, id);
	if (!type || !btf_is_ptr(type))
		return false;
	type = plain(types, type->type);
	return type && (btf_is_struct(type) || btf_is_fwd(type)) &&
	       btf__name_by_offset(types, type->name_off) == name;
}

bool takes(const btf *types, const btf_type *function, const std::string &name)
{
	const btf_type *prototype = btf__type_by_id(types, function->type);
	if (!prototype || !btf_is_func_proto(prototype))
		return false;
	const btf_param *params = btf_params(prototype);
	for (unsigned int i = 0; i < btf_vlen(prototype); i++)
		if (points_to(types, params[i].type, name))
			return true;
	return false;
}

void collect(const btf *types, std::uint32_t first, const std::string &module,
	     const std::string &type, std::set<FunctionId> &out)
{
	for (std::uint32_t id = first; id < btf__type_cnt(types); id++) {
		const btf_type *function = btf__type_by_id(types, id);
		if (btf_is_func(function) && takes(types, function, type))
			out.emplace(module, btf__name_by_offset(types, function->name_off));
	}
}

} // namespace

Result<std::set<FunctionId>> functions_taking(const std::string &type, const std::string &dir)
{
	libbpf_set_print(nullptr);
	const std::string path = dir + "/vmlinux";
	const Types kernel = owned(btf__parse(path.c_str(), nullptr));
	if (!kernel)
		return Error{0, "cannot read types from " + path,
			     "name functions instead, or boot a kernel with CONFIG_DEBUG_INFO_BTF",
			     Exit::Environment};
	std::set<FunctionId> out;
	collect(kernel.get(), 1, "vmlinux", type, out);
	std::error_code error;
	for (const auto &entry : std::filesystem::directory_iterator(dir, error)) {
		const std::string module = entry.path().filename();
		if (module == "vmlinux")
			continue;
		const Types types = owned(btf__parse_split(entry.path().c_str(), kernel.get()));
		if (types)
			collect(types.get(), btf__type_cnt(kernel.get()), module, type, out);
	}
	if (out.empty())
		return usage_error("no function takes a struct " + type,
				   "bpftool btf dump lists the types; modules have to be loaded");
	return out;
}

} // namespace lockscope
