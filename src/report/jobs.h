#pragma once

#include <string>
#include <vector>

#include "report/explain.h"
#include "report/json_writer.h"
#include "report/table.h"
#include "trunkline/scenario/jobs_result.h"

// Several jobs on one fabric: what each takes alone and together, and where they meet.
namespace trunkline {

[[nodiscard]] Table JobsTable(const JobsResult& jobs);
// The first `limit` links that several cross.
[[nodiscard]] Table SharedLinksTable(const JobsResult& jobs, std::size_t limit);
// What the tables come to, in sentences.
[[nodiscard]] std::vector<std::string> JobsFindings(const JobsResult& jobs);
// How much longer each takes, and who takes how much of the fullest link that they share.
[[nodiscard]] std::vector<Figure> JobsFigures(const JobsResult& jobs);
// The keys jobs, shared_links, shared_links_total and background; null where `jobs` is.
void WriteJobsFields(JsonWriter& json, const JobsResult* jobs);

}  // namespace trunkline
