// SPDX-License-Identifier: GPL-2.0
#include "analysis/owner.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace lockscope {

namespace {

/* Functions of the kernel that sleep, allocate or free on behalf of their callers: allocators,
 * waits, user copies, the page fault path, buffers of pages. What is wrong there is the caller's. */
constexpr std::string_view kForOthers[] = {
	"___slab_alloc",
	"__alloc_pages",
	"__cancel_work",
	"__cond_resched",
	"__copy_user",
	"__down_",
	"__flush_work",
	"__get_free_pages",
	"__get_user",
	"__kmalloc",
	"__kmem_cache_",
	"__might_",
	"__mutex_lock",
	"__put_user",
	"__slab_alloc",
	"__vmalloc",
	"__wait_for_",
	"_copy_",
	"alloc_pages",
	"allocate_slab",
	"asm_exc_page_fault",
	"cancel_delayed_",
	"cancel_work_sync",
	"clear_user",
	"copy_user_",
	"do_user_addr_",
	"exc_page_fault",
	"flush_work",
	"get_zeroed_page",
	"handle_mm_fault",
	"kmalloc",
	"kmem_cache_alloc",
	"kvfree",
	"kvmalloc",
	"lock_mm_and_find_",
	"might_",
	"msleep",
	"new_slab",
	"raw_copy_",
	"rep_",
	"rwsem_down_",
	"schedule",
	"start_flush_work",
	"strncpy_from_",
	"synchronize_",
	"try_to_free_buffers",
	"vfree",
	"vmalloc",
	"vzalloc",
	"wait_for_",
};

bool for_others(const Code &code)
{
	return !of_module(code) &&
	       (code.module == "lockscope" ||
		std::any_of(std::begin(kForOthers), std::end(kForOthers),
			    [&](auto prefix) { return code.function.starts_with(prefix); }));
}

} // namespace

bool of_module(const Code &code)
{
	return !code.module.empty() && code.module != "vmlinux" && code.module != "lockscope";
}

std::set<std::string> modules_of(const Model &model, const std::vector<ClassId> &classes)
{
	std::set<std::string> out;
	for (const ClassId cls : classes)
		if (cls != kNoClass && !model[cls].module.empty() && model[cls].module != "vmlinux")
			out.insert(model[cls].module);
	return out;
}

std::span<const CodeId> own_frames(const Model &model, const std::vector<CodeId> &stack,
				   const Context &context)
{
	const std::span<const CodeId> all(stack);
	if (context.level == LS_TASK)
		return all;
	for (std::size_t i = 0; i < all.size(); i++) {
		const std::string function = plain_function(model[all[i]].function);
		if ((!context.entry.empty() && function == context.entry) ||
		    function.starts_with("asm_") || function == "__do_softirq" ||
		    function == "handle_softirqs")
			return all.first(i + 1);
	}
	return all;
}

std::size_t owner_frame(const Model &model, std::span<const CodeId> frames,
			const std::set<std::string> &at_hand)
{
	const auto first = [&](const auto &wanted) {
		return static_cast<std::size_t>(
			std::find_if(frames.begin(), frames.end(),
				     [&](CodeId frame) { return wanted(model[frame]); }) -
			frames.begin());
	};
	std::size_t at = first([&](const Code &code) { return at_hand.contains(code.module); });
	if (at == frames.size())
		at = first(of_module);
	if (at == frames.size())
		at = first([](const Code &code) { return !for_others(code); });
	return at == frames.size() ? 0 : at;
}

std::string function_below(const Model &model, std::span<const CodeId> frames, const Held &hold)
{
	const Code &taker = model[hold.at];
	std::size_t holder = 0;
	while (holder < frames.size() && !same_function(model[frames[holder]], taker))
		holder++;
	const bool returned = holder == frames.size();
	for (std::size_t i = holder; i-- > 0;)
		if (const Code &code = model[frames[i]];
		    of_module(code) && (!returned || code.module == taker.module))
			return plain_function(code.function);
	if (returned)
		return {};
	if (!of_module(taker))
		for (std::size_t i = holder; i-- > 0;)
			if (!for_others(model[frames[i]]))
				return plain_function(model[frames[i]].function);
	return plain_function(taker.function);
}

CodeId owner_of(const Model &model, const Finding &finding, const FindingEdge &edge)
{
	const auto frames = own_frames(model, edge.to_stack, edge.shown().context);
	return frames[owner_frame(model, frames, modules_of(model, finding.classes))];
}

std::string function_of(const Model &model, const Finding &finding, const FindingEdge &edge)
{
	const auto &code = model[owner_of(model, finding, edge)];
	return code.function.empty() ? edge.shown().context.describe()
				     : plain_function(code.function);
}

CodeId owner_of(const Model &model, const Finding &finding)
{
	return finding.edges.empty() || finding.edges.front().to_stack.empty()
		       ? CodeId{}
		       : owner_of(model, finding, finding.edges.front());
}

} // namespace lockscope
