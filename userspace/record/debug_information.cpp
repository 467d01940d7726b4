// SPDX-License-Identifier: GPL-2.0
#include "record/debug_information.h"

namespace lockscope {

namespace {

/// Keep what @put adds, or nothing of it.
template <typename Put> Status in_transaction(StoreWriter &store, Put put)
{
	LS_TRY_STATUS(store.begin());
	if (auto done = put(); !done) {
		store.rollback();
		return done;
	}
	return store.commit();
}

Status add_type(StoreWriter &store, LineFinder &finder, const StoreWriter::Untyped &data)
{
	const VariableTypes &types = finder.types(data.module, data.build_id);
	const std::string type = types.type(data.symbol);
	if (type.empty())
		return success();
	LS_TRY_STATUS(store.put_type(data, type));
	for (const auto &[offset, lock] : data.places)
		if (auto path = types.path(data.symbol, offset, lock); !path.empty())
			LS_TRY_STATUS(store.put_member(data.run, data.id, offset, lock, path));
	return success();
}

} // namespace

Status add_debug_information(StoreWriter &store, LineFinder &finder, Again again)
{
	auto places = store.unlined(again == Again::Yes);
	if (!places)
		return places.error();
	auto untyped = store.untyped();
	if (!untyped)
		return untyped.error();
	auto unread = store.unread();
	if (!unread)
		return unread.error();
	if (!untyped->empty())
		LS_TRY_STATUS(in_transaction(store, [&]() -> Status {
			for (const auto &data : *untyped)
				LS_TRY_STATUS(add_type(store, finder, data));
			return success();
		}));
	for (const auto &stored : *unread)
		LS_TRY_STATUS(store.put_stored(
			stored, finder.stored(stored.at.module, stored.at.build_id,
					      stored.at.function, stored.at.offset, stored.size)));
	if (places->empty())
		return success();
	return in_transaction(store, [&]() -> Status {
		for (const auto &place : *places) {
			auto lines = finder.find(place.module, place.build_id, place.function,
						 place.offset);
			if (again == Again::No || !lines.empty())
				LS_TRY_STATUS(store.put_lines(place, lines));
		}
		return success();
	});
}

} // namespace lockscope
