// Writes the reports that the browser test opens: sample OUTPUT_DIRECTORY
#include <cstdio>
#include <fstream>
#include <string>
#include <tuple>

#include "report/test_result.h"
#include "trunkline/report/planner_report.h"
#include "trunkline/report/report.h"

namespace {

bool Write(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  return static_cast<bool>(file.flush());
}

bool WriteReport(const std::string& folder, const std::string& name,
                 const trunkline::RunResult& result) {
  const auto html = trunkline::RenderHtml(result);
  return html && Write(folder + "/" + name + ".html", *html) &&
         Write(folder + "/" + name + ".json", trunkline::RenderJson(result));
}

// Hosts on two tiers up to 128, and a third from 129 on.
bool WriteGrowth(const std::string& folder) {
  trunkline::Growth growth;
  growth.name = "clos:radix=16";
  growth.prices = "<b>mine</b>";
  growth.currency = "USD";
  growth.size = trunkline::Bytes(std::int64_t{1} << 30);
  for (const auto& [hosts, tiers, price] :
       {std::tuple(64U, 2U, 64e3), std::tuple(128U, 2U, 128e3), std::tuple(129U, 3U, 258e3)}) {
    growth.points.push_back({.nodes = hosts,
                             .gpus = hosts,
                             .tiers = tiers,
                             .switches = hosts / 4,
                             .cables = 2 * hosts,
                             .price = price,
                             .watts = 1000.0 * hosts,
                             .all_reduce = trunkline::Time::Microseconds(40'000 + hosts),
                             .all_to_all = trunkline::Time::Microseconds(20'000 * tiers)});
  }
  const auto html = trunkline::RenderGrowthHtml(growth);
  return html && Write(folder + "/growth.html", *html) &&
         Write(folder + "/growth.json", trunkline::RenderGrowthJson(growth));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: sample OUTPUT_DIRECTORY\n", stderr);
    return 2;
  }
  using trunkline::testing::CollectiveResult;
  using trunkline::testing::MessagesResult;
  using trunkline::testing::PipelineResult;
  trunkline::RunResult hostile = PipelineResult();
  hostile.title = "</script><img src=x onerror=\"document.title='owned'\">" + std::string(300, 'w');
  hostile.links.front().from = "<b>leaf</b>";
  hostile.assumptions.push_back("<script>document.title='owned'</script>");
  trunkline::RunResult training = PipelineResult();
  training.iteration->serial = training.time + trunkline::Time::Microseconds(40'000);
  training.step_collectives.front().row.algorithm = "recursive_doubling";
  trunkline::RunResult collective = CollectiveResult();
  collective.rows.front().algorithm = "recursive_doubling";
  const std::string folder = argv[1];
  const bool written = WriteGrowth(folder) && WriteReport(folder, "training", training) &&
                       WriteReport(folder, "collective", collective) &&
                       WriteReport(folder, "messages", MessagesResult()) &&
                       WriteReport(folder, "window", trunkline::testing::WindowResult()) &&
                       WriteReport(folder, "hostile", hostile) &&
                       // 4 x (2 x 12,500 + 2) + 3 spans
                       WriteReport(folder, "large", PipelineResult(12'500));
  return written ? 0 : 1;
}
