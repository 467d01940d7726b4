// SPDX-License-Identifier: GPL-2.0
#include "log/log.h"

#include "log/accesses.h"
#include "log/body.h"

namespace lockscope {

namespace {

bool valid_class_id(std::uint32_t id)
{
	return id >= 1 && id <= LS_VAL_CLASS_MASK;
}

bool valid_val(std::uint32_t val)
{
	return (val & LS_VAL_CLASS_MASK) != 0 && valid_mode(val);
}

/// Class id of an edge in a finding.
bool valid_end(std::uint16_t kind, std::uint32_t id)
{
	if (LS_SIGHT_IS_FAULT(kind))
		return id == 0 || valid_class_id(id);
	return valid_class_id(id) || id == LS_CLASS_HARDIRQ || id == LS_CLASS_SOFTIRQ;
}

const char *decode_class(std::span<const std::byte> bytes, ClassRecord &out)
{
	auto raw = fixed<ls_rec_class>(bytes);
	if (!raw)
		return "class record of a wrong length";
	auto module = text(raw->module), name = text(raw->name);
	if (!module || !name || name->empty())
		return "class record whose name does not end";
	if (!valid_class_id(raw->id) || !valid_class_id(raw->canonical))
		return "class record with an impossible id";
	if (raw->kind >= LS_NR_KINDS || raw->origin >= LS_NR_ORIGINS)
		return "class record of an unknown kind or origin";
	out = {raw->id,	    raw->canonical,   raw->kind, raw->origin,
	       raw->offset, raw->object_size, *module,	 *name};
	return nullptr;
}

const char *decode_stack(std::span<const std::byte> bytes, StackRecord &out)
{
	Body body(bytes);
	auto raw = body.get<ls_rec_stack>();
	if (body.failed() || raw.nr > LS_STACK_FRAMES || body.left() != raw.nr * sizeof(__u64))
		return "stack record whose frame count does not fit its length";
	if (raw.id == 0)
		return "stack record with an impossible id";
	out.id = raw.id;
	for (std::uint32_t i = 0; i < raw.nr; i++)
		out.ip.push_back(body.get<std::uint64_t>());
	return nullptr;
}

const char *decode_observation(std::span<const std::byte> bytes, ObservationRecord &out)
{
	Body body(bytes);
	auto raw = body.get<ls_rec_sight>();
	if (body.failed() || raw.nr_held > LS_MAX_DEPTH ||
	    body.left() != raw.nr_held * sizeof(ls_held_rec))
		return "sight record whose held count does not fit its length";
	if (!valid_observation(raw.what))
		return "sight record of an unknown sort";
	/* Only a fault can be about no lock at all. */
	if (!(LS_SIGHT_IS_FAULT(raw.what) ? valid_mode(raw.val) : valid_val(raw.val)))
		return "sight record with an impossible class or mode";
	auto comm = text(raw.comm);
	if (!comm)
		return "sight record whose task name does not end";
	ObservationRecord observation{raw.time_ns, raw.new_mask,   raw.ip,    raw.lock,
				      raw.val,	   raw.chain,	   raw.stack, raw.pid,
				      raw.tgid,	   raw.task_flags, raw.cpu,   *comm,
				      {},	   raw.what,	   raw.extra, true};
	for (std::uint32_t i = 0; i < raw.nr_held; i++) {
		auto held = body.get<ls_held_rec>();
		if (!valid_val(held.val))
			return "sight record with an impossible held lock";
		observation.held.push_back({held.val, held.ip, held.lock, held.passed});
	}
	out = std::move(observation);
	return nullptr;
}

const char *decode_finding(std::span<const std::byte> bytes, FindingRecord &out)
{
	Body body(bytes);
	auto raw = body.get<ls_rec_finding>();
	if (body.failed() || body.left() != raw.nr_edges * sizeof(ls_finding_edge))
		return "finding record whose edge count does not fit its length";
	if (raw.id == 0 || raw.nr_edges == 0)
		return "finding record without an id or edges";
	FindingRecord finding{raw.id, raw.kind, {}};
	for (std::uint32_t i = 0; i < raw.nr_edges; i++) {
		auto edge = body.get<ls_finding_edge>();
		if (!valid_end(raw.kind, edge.from) || !valid_end(raw.kind, edge.to))
			return "finding record with an impossible class";
		finding.edges.push_back(edge);
	}
	out = std::move(finding);
	return nullptr;
}

const char *decode_symbol(std::span<const std::byte> bytes, SymbolRecord &out)
{
	auto raw = fixed<ls_rec_symbol>(bytes);
	if (!raw)
		return "symbol record of a wrong length";
	auto function = text(raw->function), module = text(raw->module);
	if (!function || !module)
		return "symbol record whose name does not end";
	out = {raw->ip, raw->offset, raw->size, *function, *module};
	return nullptr;
}

const char *decode_module(std::span<const std::byte> bytes, ModuleRecord &out)
{
	auto raw = fixed<ls_rec_module>(bytes);
	if (!raw)
		return "module record of a wrong length";
	auto module = text(raw->module);
	if (!module || module->empty())
		return "module record whose name does not end";
	if (raw->state < LS_MODULE_COMES || raw->state > LS_MODULE_GOES)
		return "module record of an unknown state";
	if (raw->text > raw->text_end || raw->init > raw->init_end)
		return "module record whose code ends before it begins";
	out = {raw->state, raw->text, raw->text_end, raw->init, raw->init_end, *module};
	return nullptr;
}

const char *decode_inversion(std::span<const std::byte> bytes, InversionRecord &out)
{
	auto raw = fixed<ls_rec_inversion>(bytes);
	if (!raw)
		return "inversion record of a wrong length";
	if (!valid_class_id(raw->class_id))
		return "inversion record with an impossible class";
	out = {raw->class_id, raw->same_instance != 0, raw->first, raw->second};
	return nullptr;
}

template <typename Record>
const char *append(const char *(*decode)(std::span<const std::byte>, Record &),
		   std::span<const std::byte> bytes, std::vector<LogRecord> &out)
{
	Record record;
	const char *problem = decode(bytes, record);
	/* Observations are referred to by number: a malformed one keeps its place. */
	if (!problem || std::is_same_v<Record, ObservationRecord>)
		out.emplace_back(std::move(record));
	return problem;
}

} // namespace

void LogDecoder::note(std::string what)
{
	if (problem_.empty())
		problem_ = std::move(what);
}

std::size_t LogDecoder::decode(std::span<const std::byte> bytes, std::vector<LogRecord> &out)
{
	std::size_t at = 0;
	while (at < bytes.size() && !broken_) {
		ls_rec header;
		if (bytes.size() - at < sizeof(header)) {
			note("log ends inside a record's header");
			broken_ = true;
			break;
		}
		std::memcpy(&header, bytes.data() + at, sizeof(header));
		if (header.len < sizeof(header) || header.len % 8 != 0 ||
		    header.len > kMaxRecordBytes || header.len > bytes.size() - at) {
			note("record of an impossible length, " + std::to_string(header.len) +
			     " bytes");
			broken_ = true;
			break;
		}

		auto record = bytes.subspan(at, header.len);
		const char *problem = nullptr;
		switch (header.type) {
		case LS_REC_CLASS:
			problem = append(decode_class, record, out);
			break;
		case LS_REC_STACK:
			problem = append(decode_stack, record, out);
			break;
		case LS_REC_SIGHT:
			problem = append(decode_observation, record, out);
			break;
		case LS_REC_FINDING:
			problem = append(decode_finding, record, out);
			break;
		case LS_REC_SYMBOL:
			problem = append(decode_symbol, record, out);
			break;
		case LS_REC_INVERSION:
			problem = append(decode_inversion, record, out);
			break;
		case LS_REC_MODULE:
			problem = append(decode_module, record, out);
			break;
		case LS_REC_DATA:
			problem = append(decode_data, record, out);
			break;
		case LS_REC_ACCESS:
			problem = append(decode_access, record, out);
			break;
		case LS_REC_RACE:
			problem = append(decode_race, record, out);
			break;
		case LS_REC_SIDE:
			problem = append(decode_side, record, out);
			break;
		case LS_REC_HISTORY:
			problem = append(decode_history, record, out);
			break;
		case LS_REC_RESET:
			out.emplace_back(ResetRecord{});
			break;
		default:
			unknown_++;
			break;
		}
		if (problem) {
			malformed_++;
			note(problem);
		}
		at += header.len;
	}
	if (broken_)
		malformed_++;
	return at;
}

} // namespace lockscope
