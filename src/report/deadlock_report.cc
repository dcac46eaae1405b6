#include "report/deadlock_report.h"

#include <fmt/format.h>

#include "report/table.h"

namespace trunkline {
namespace {

using Verdict = DeadlockProof::Verdict;

const char* ToString(Verdict verdict) {
  switch (verdict) {
    case Verdict::kProved:
      return "proved";
    case Verdict::kCycle:
      return "cycle";
    case Verdict::kSampled:
      return "sampled";
  }
  return "";
}

std::string Entry(const std::string& text) {
  const std::string indent(18, ' ');
  return Wrap(text, indent, 100).replace(0, indent.size(), fmt::format("{:<18}", "deadlock"));
}

}  // namespace

std::string DeadlockText(const Fabric& fabric, const RoutingProof& routing) {
  std::string text;
  for (const DeadlockProof& proof : routing.proofs) {
    const std::string what = fmt::format(
        "{} routing, {}", ToString(routing.policy),
        proof.lanes == 1 ? "one channel a link" : fmt::format("{} virtual channels", proof.lanes));
    const std::string graph =
        proof.tiers ? fmt::format("{} channels: shortest paths go up, then down", proof.channels)
                    : fmt::format("{} dependencies {} {} channels", proof.dependencies,
                                  proof.escape ? "of the escape among" : "of", proof.channels);
    switch (proof.verdict) {
      case Verdict::kProved:
        text += Entry(fmt::format("impossible under {} ({}{})", what, graph,
                                  proof.tiers ? "" : ", no cycle"));
        break;
      case Verdict::kCycle:
        text += Entry(fmt::format("possible under {}: {}", what, NameCycle(fabric, proof)));
        break;
      case Verdict::kSampled:
        text += Entry(fmt::format("none found under {} ({}, paths to {} of {} ends)", what, graph,
                                  proof.destinations, proof.all_destinations));
        break;
    }
  }
  return text;
}

void WriteDeadlock(JsonWriter& json, const Fabric& fabric, const RoutingProof& routing) {
  json.Key("deadlock");
  json.Objects(routing.proofs, [&](const DeadlockProof& proof) {
    json.Field("routing", ToString(routing.policy));
    json.Field("virtual_channels", proof.lanes);
    json.Field("escape", proof.escape);
    json.Field("tiers", proof.tiers);
    json.Field("verdict", ToString(proof.verdict));
    json.Field("channels", proof.channels);
    if (proof.tiers) {
      json.NullField("dependencies");
    } else {
      json.Field("dependencies", proof.dependencies);
    }
    json.Key("cycle");
    json.Objects(proof.cycle, [&](const Channel& channel) {
      const Link& link = fabric.link(channel.link);
      json.Field("from", fabric.name(link.from));
      json.Field("to", fabric.name(link.to));
      json.Field("channel", std::uint32_t{channel.lane});
    });
  });
}

}  // namespace trunkline
