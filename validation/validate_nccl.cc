// Compares simulated AllReduces with measured nccl-tests curves and prints the error of each size.
//
//   validate_nccl [analytic|flow]
//
// Nothing in the model is fitted to these rows. Beside each curve: a null model, a + bytes / b
// through its first and last row, which is fitted to them. Exit status 1 when a mean error is not
// the documented one any more.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/yaml_reader.h"
#include "trunkline/fabric/build.h"
#include "trunkline/scenario/run.h"

namespace trunkline {
namespace {

struct Point {
  std::int64_t bytes = 0;
  double microseconds = 0;
};

struct Curve {
  std::string title;
  std::string node;
  std::int64_t nodes = 1;
  double documented_mean_error = 0;
  std::vector<Point> points;
};

Curve ReadCurve(const YamlMap& map) {
  Curve curve;
  map.Require("title", curve.title);
  map.Require("node", curve.node);
  map.Require("nodes", curve.nodes);
  map.Require("documented_mean_error", curve.documented_mean_error);
  if (const auto rows = map.List("rows")) {
    for (const YamlValue& value : *rows) {
      const auto row = value.AsMap();
      if (!row) continue;
      Point& point = curve.points.emplace_back();
      row->Require("bytes", point.bytes);
      row->Require("microseconds", point.microseconds);
    }
  }
  return curve;
}

Result<std::vector<Curve>> ReadCurves(const std::string& path) {
  auto document = YamlDocument::ReadFile(path, YamlStyle::kOurs);
  if (!document) return std::unexpected(document.error());
  std::vector<Curve> curves;
  if (const auto list = document->root().List("curves")) {
    for (const YamlValue& value : *list) {
      if (const auto map = value.AsMap()) curves.push_back(ReadCurve(*map));
    }
  }
  Diagnostics problems = document->TakeDiagnostics();
  if (!problems.empty()) return std::unexpected(std::move(problems));
  return curves;
}

Result<RunResult> Simulate(const Curve& curve, EngineKind engine) {
  FabricSpec spec;
  spec.kind = "rail-optimized";
  spec.node = curve.node;
  spec.nodes = static_cast<std::uint32_t>(curve.nodes);
  auto fabric = BuildFabric(spec);
  if (!fabric) return std::unexpected(fabric.error());
  CollectiveJob job;
  job.ranks = static_cast<std::uint32_t>(fabric->fabric.endpoints().size());
  for (const Point& point : curve.points) job.sizes.emplace_back(point.bytes);
  Scenario scenario;
  scenario.name = curve.title;
  scenario.cluster.fabric = std::make_shared<const BuiltFabric>(std::move(*fabric));
  scenario.cluster.transport = DefaultTransport(TransportKind::kInfiniband);
  scenario.cluster.transport_name = "infiniband";
  scenario.workload = job;
  scenario.engine = engine;
  return RunScenario(scenario);
}

// Mean absolute relative error of the line through the first and the last point.
double NullModelError(const std::vector<Point>& points) {
  const Point& first = points.front();
  const Point& last = points.back();
  const double slope =
      (last.microseconds - first.microseconds) / static_cast<double>(last.bytes - first.bytes);
  double sum = 0;
  for (const Point& point : points) {
    const double predicted =
        first.microseconds + slope * static_cast<double>(point.bytes - first.bytes);
    sum += std::abs(predicted / point.microseconds - 1);
  }
  return sum / static_cast<double>(points.size());
}

int Refuse(const Diagnostics& problems) {
  for (const Diagnostic& problem : problems) std::fputs(Format(problem).c_str(), stderr);
  return 2;
}

// The exit status.
int Validate(const Curve& curve, EngineKind engine) {
  const auto result = Simulate(curve, engine);
  if (!result) return Refuse(result.error());
  std::printf("%s, %s engine\n", curve.title.c_str(), ToString(engine));
  std::printf("  %12s %12s %12s %9s  %s\n", "bytes", "measured us", "simulated us", "error",
              "algorithm");
  double sum = 0;
  double largest = 0;
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    const CollectiveRow& row = result->rows[i];
    const double simulated = row.time.seconds() * 1e6;
    const double error = simulated / curve.points[i].microseconds - 1;
    std::printf("  %12lld %12.2f %12.2f %+8.2f %%  %s %s\n",
                static_cast<long long>(curve.points[i].bytes), curve.points[i].microseconds,
                simulated, 100 * error, row.algorithm.c_str(), ToString(row.protocol));
    sum += std::abs(error);
    largest = std::max(largest, std::abs(error));
  }
  const double mean = sum / static_cast<double>(curve.points.size());
  std::printf("  Trunkline            mean %6.2f %%  max %6.2f %%\n", 100 * mean, 100 * largest);
  std::printf("  null model (fitted)  mean %6.2f %%\n", 100 * NullModelError(curve.points));
  // Half a point: more is a change that the documents must tell.
  const bool as_documented = std::abs(mean - curve.documented_mean_error) < 0.005;
  if (!as_documented) {
    std::printf("  documented mean error: %.2f %%\n", 100 * curve.documented_mean_error);
  }
  std::printf("\n");
  return as_documented ? 0 : 1;
}

int Main(int argc, char** argv) {
  const bool flow = argc > 1 && std::string(argv[1]) == "flow";
  const auto curves = ReadCurves(TRUNKLINE_SOURCE_DIR "/validation/nccl-allreduce.yaml");
  if (!curves) return Refuse(curves.error());
  int status = 0;
  for (const Curve& curve : *curves) {
    status = std::max(status, Validate(curve, flow ? EngineKind::kFlow : EngineKind::kAnalytic));
  }
  return status;
}

}  // namespace
}  // namespace trunkline

int main(int argc, char** argv) { return trunkline::Main(argc, argv); }
