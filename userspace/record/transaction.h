// SPDX-License-Identifier: GPL-2.0
// For members of Recorder.
#pragma once

#include "store/writer.h"

namespace lockscope {

/// Rolls back unless the batch was committed.
class Transaction {
public:
	explicit Transaction(StoreWriter &store) : store_(store) {}
	Transaction(const Transaction &) = delete;
	~Transaction()
	{
		if (open_)
			store_.rollback();
	}
	Status begin()
	{
		LS_TRY_STATUS(store_.begin());
		open_ = true;
		return success();
	}
	Status commit(const RunState &run)
	{
		LS_TRY_STATUS(store_.commit(run));
		open_ = false;
		return success();
	}

private:
	StoreWriter &store_;
	bool open_ = false;
};

} // namespace lockscope
