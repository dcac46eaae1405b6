#include "cli/command_line.h"

#include <fmt/format.h>

#include <tuple>

// The only file that includes CLI11: it costs ten seconds to compile.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cctype>
#include <functional>

#include "cli/fabric_verbs.h"
#include "cli/version.h"
#include "trunkline/collective/primitive.h"
#include "trunkline/fabric/build.h"

namespace trunkline {
namespace {

// Adds "key=<value of the flag>" as an assignment labelled with the flag, when it is given.
void Assign(CLI::App& app, std::vector<Assignment>& assignments, const std::string& flag,
            const std::string& key, const std::string& help) {
  const std::string label = flag.substr(0, flag.find(','));
  app.add_option_function<std::string>(
         flag,
         [&assignments, key, label](const std::string& value) {
           assignments.push_back({key + "=" + value, label, false, value});
         },
         help)
      ->take_last();
}

void AddSet(CLI::App& app, std::vector<Assignment>& assignments,
            const std::string& help = "Assign a key of the scenario: key.path=value") {
  app.add_option_function<std::vector<std::string>>(
         "--set",
         [&assignments](const std::vector<std::string>& values) {
           for (std::size_t i = 0; i < values.size(); ++i) {
             assignments.push_back({values[i], fmt::format("--set {}", i + 1)});
           }
         },
         help + " (repeatable)")
      ->expected(1)
      ->allow_extra_args(false)  // what follows its value is no value of it
      ->take_all()
      ->trigger_on_parse(false);
}

void AddRunFlags(CLI::App& app, RunFlags& flags) {
  Assign(app, flags.assignments, "--engine", "engine", "analytic, flow or packet");
  AddSet(app, flags.assignments);
  Assign(app, flags.assignments, "--seed", "seed", "Seed of every random choice");
  app.add_flag(
      "--json", flags.json,
      "Print one JSON document instead of text; without --out no change of a step is tried, "
      "so it advises less than result.json");
  app.add_flag("--explain", flags.explain, "Show each figure with its formula and numbers");
  app.add_option("--out", flags.out, "Write report.html, trace.json and result.json to a folder");
  app.add_flag_callback(
      "--fast-forward",
      [&flags] {
        flags.assignments.push_back(
            {"packet.fast_forward=true", "--fast-forward", true, "--fast-forward"});
      },
      "Packet engine, traffic: skip what would only repeat, and bound the error");
  app.add_option("--threads", flags.threads, "Worker threads, of the packet engine")
      ->check(CLI::Range(1, 1024));
  app.add_option("--repeat", flags.repeat, "Runs, each with the next seed: means and intervals")
      ->check(CLI::Range(1, 10'000));
  app.add_flag("--all-links", flags.all_links, "Every link in the result, not the worst 1,000");
  app.add_flag_callback(
      "--no-fold", [&flags] { flags.fold = false; }, "Simulate every rank, congruent or not");
  app.add_flag_callback(
      "--no-memo", [&flags] { flags.memo = false; }, "Solve every collective anew");
  app.add_option_function<std::string>(
      "--handshake",
      [&flags](const std::string& word) {
        if (word != "eager" && word != "rendezvous") {
          throw CLI::ValidationError("--handshake", "neither eager nor rendezvous: " + word);
        }
        flags.handshake = word == "eager" ? Handshake::kEager : Handshake::kRendezvous;
      },
      "eager or rendezvous: how a sender and a receiver meet");
  app.add_flag("-q,--quiet", flags.quiet, "No progress on stderr");
}

void DefineRun(CLI::App& root, RunCommand& run) {
  CLI::App& app = *root.add_subcommand("run", "Simulate a scenario");
  app.add_option("scenario", run.scenario, "The scenario file (YAML), or - for standard input")
      ->required();
  AddRunFlags(app, run.flags);
  app.footer(
      "Examples:\n"
      "  trunkline run examples/llama3.1-70b-512xh100.yaml\n"
      "  trunkline run examples/llama3.1-70b-512xh100.yaml --out report --explain\n"
      "  trunkline run examples/llama3.1-70b-512xh100.yaml --set workload.training.parallel.pp=8 "
      "--set workload.training.parallel.dp=8\n"
      "  trunkline run examples/llama3.1-70b-512xh100.yaml --engine analytic --json\n"
      "  trunkline run examples/permutation-roce.yaml --repeat 10\n");
}

// The flags of `collective` in the order in which nccl-tests and its users think of them.
struct CollectiveFlags {
  std::string op;
  std::string ranks;
  std::string fabric;
  std::string routing;
  std::string begin;
  std::string end;
  std::int64_t factor = 0;
};

void DefineCollective(CLI::App& root, CollectiveCommand& collective, CollectiveFlags& own) {
  CLI::App& app = *root.add_subcommand("collective", "Time a collective as nccl-tests does");
  std::vector<Assignment>& set = collective.flags.assignments;
  app.add_option("op", own.op, "allreduce, allgather, reducescatter, alltoall, broadcast, …")
      ->required();
  app.add_option("-b,--minbytes", own.begin, "Smallest size (K, M, G are powers of 1024)");
  app.add_option("-e,--maxbytes", own.end, "Largest size");
  app.add_option("-f,--stepfactor", own.factor, "Factor between sizes")->check(CLI::Range(2, 1024));
  Assign(app, set, "--node", "cluster.node", "Server template (see `trunkline catalog nodes`)");
  Assign(app, set, "--nodes", "cluster.nodes", "Number of servers");
  app.add_option("--ranks", own.ranks, "Ranks; without --node so many plain hosts");
  app.add_option("--fabric", own.fabric, "Fabric: kind:key=value,…");
  Assign(app, set, "--transport", "cluster.transport.kind", "infiniband, rocev2, tcp or ideal");
  Assign(app, set, "--algorithm", "workload.collective.algorithm",
         "auto, or one of `trunkline catalog algorithms`");
  Assign(app, set, "--protocol", "workload.collective.protocol", "auto, simple, ll or ll128");
  Assign(app, set, "--channels", "workload.collective.channels", "Channels (parallel rings)");
  Assign(app, set, "--dtype", "workload.collective.dtype", "Element type");
  Assign(app, set, "--root", "workload.collective.root", "Root rank");
  app.add_option("--routing", own.routing, "as docs/routing.md lists: ecmp, adaptive, ugal-l …");
  Assign(app, set, "--placement", "cluster.placement", "packed, by-rail or random");
  app.add_option("--scenario", collective.scenario, "Take the cluster from a scenario file");
  AddRunFlags(app, collective.flags);
  app.footer(
      "Examples:\n"
      "  trunkline collective allreduce --node dgx-h100 --nodes 8 -b 8 -e 8G -f 2\n"
      "  trunkline collective alltoall --node dgx-h100 --nodes 16 -b 1M -e 1G -f 4 --engine flow\n"
      "  trunkline collective allreduce --ranks 1024 -b 1G -e 1G --algorithm ring\n");
}

constexpr const char* kSpecHelp =
    "SPEC is kind:key=value,… (`trunkline catalog fabrics`), a scenario, another tool's file\n"
    "(`trunkline catalog formats`), or - for standard input.\n";

void AddFabricFlags(CLI::App& app, FabricCommand& fabric) {
  AddSet(app, fabric.assignments, "A key of the scenario, or how a file is read: key=value");
  app.add_flag("-q,--quiet", fabric.quiet, "No progress on stderr");
  app.add_flag("--json", fabric.json, "Print one JSON document instead of text");
}

// `verb --help`: its own flags and examples.
std::string FabricVerbHelp(const FabricVerb& verb) {
  CLI::App app(verb.summary, fmt::format("trunkline fabric {}{}{}", verb.name,
                                         verb.words.empty() ? "" : " ", verb.words));
  FabricCommand unused;
  std::string value;
  for (const FabricOption& option : kFabricOptions) {
    const bool reads = std::ranges::find(verb.options, option.flag) != verb.options.end();
    if (reads) app.add_option(option.flag, value, option.help);
  }
  AddFabricFlags(app, unused);
  app.footer(fmt::format("{}Examples:\n{}",
                         verb.words.starts_with("SPEC") ? kSpecHelp + std::string("\n") : "",
                         verb.examples));
  return app.help();
}

void DefineFabric(CLI::App& root, FabricCommand& fabric) {
  CLI::App& app = *root.add_subcommand("fabric", "Build a fabric and measure it");
  app.add_option("arguments", fabric.arguments, "A verb, show if left out, and what it works on")
      ->required();
  AddFabricFlags(app, fabric);
  for (const FabricOption& option : kFabricOptions) {
    app.add_option_function<std::string>(
           option.flag,
           [&fabric, &option](const std::string& value) { fabric.options[option.flag] = value; },
           option.help)
        ->group("");  // the verbs' own help has them
  }
  std::string verbs;
  for (const FabricVerb& verb : FabricVerbs()) {
    verbs += fmt::format("  {:<9}{}\n", verb.name, verb.summary);
  }
  app.footer(
      fmt::format("Verbs, each with flags of its own (`trunkline fabric VERB --help`):\n{}\n"
                  "{}\nExamples:\n{}",
                  verbs, kSpecHelp, FabricVerbs().front().examples));
}

// The help that is asked for, of a command or a verb of `fabric`.
std::string HelpOf(const CLI::App& app, const std::vector<std::string>& arguments) {
  const auto chosen = app.get_subcommands();
  if (chosen.empty()) return app.help();
  if (chosen.front()->get_name() == "fabric") {
    auto verb_word = std::ranges::find(arguments, "fabric");
    if (verb_word != arguments.end()) ++verb_word;
    for (const FabricVerb& verb : FabricVerbs()) {
      if (verb_word != arguments.end() && *verb_word == verb.name) return FabricVerbHelp(verb);
    }
  }
  return chosen.front()->help("trunkline");
}

void DefineCatalog(CLI::App& root, CatalogCommand& catalog) {
  CLI::App& app = *root.add_subcommand("catalog", "List what is built in");
  app.add_option(
      "kind", catalog.kind,
      "nodes, accelerators, fabrics, formats, routing, algorithms, transports, congestion, "
      "patterns, sizes or prices; everything when left out");
  app.footer(
      "Examples:\n"
      "  trunkline catalog\n"
      "  trunkline catalog nodes\n");
}

void DefineExplain(CLI::App& root, ExplainCommand& explain) {
  CLI::App& app = *root.add_subcommand("explain", "Explain a term or an error code");
  app.add_option("term", explain.term, "A term (busbw, oversubscription, …) or a code (TL1103)");
  app.footer(
      "Examples:\n"
      "  trunkline explain TL1103\n"
      "  trunkline explain busbw\n");
}

// Every subcommand and the flags that it knows, for a did-you-mean before parsing.
std::vector<std::string> SubcommandNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(sub->get_name());
  }
  return names;
}

std::vector<std::string> FlagNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

std::string DidYouMean(const std::string& word, const std::vector<std::string>& known,
                       const std::string& otherwise) {
  const std::string match = ClosestMatch(word, known);
  return match.empty() ? otherwise : fmt::format("did you mean '{}'?", match);
}

// No word that is empty means anything; a shell makes one of a variable that is not set.
Result<void> CheckEmpty(const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    const bool is_flag = argument.size() > 1 && argument.starts_with('-');
    if (is_flag && argument.ends_with('=') && argument.find('=') + 1 == argument.size()) {
      const std::string flag = argument.substr(0, argument.size() - 1);
      return Error("TL1002", fmt::format("{} is given an empty value", flag),
                   fmt::format("write a value behind {}=, or leave it out", flag));
    }
    if (!argument.empty()) continue;
    if (i > 0 && arguments[i - 1].starts_with('-')) {
      return Error("TL1002", fmt::format("{} is given an empty value", arguments[i - 1]),
                   fmt::format("write a value behind {}, or leave it out", arguments[i - 1]));
    }
    return Error("TL1002", fmt::format("word {} behind `trunkline` is empty", i + 1),
                 "remove it, or check the variable that it comes from");
  }
  return {};
}

Result<void> CheckWords(const CLI::App& app, const std::vector<std::string>& arguments) {
  const std::string& command = arguments.front();
  if (command.starts_with('-')) {
    const std::vector<std::string> flags = FlagNames(app);
    if (std::ranges::find(flags, command) != flags.end()) return {};
    return Error("TL1001", fmt::format("unknown flag '{}' of `trunkline`", command),
                 DidYouMean(command, flags, "a subcommand comes first; see `trunkline --help`"));
  }
  const std::vector<std::string> commands = SubcommandNames(app);
  if (std::ranges::find(commands, command) == commands.end()) {
    return Error("TL1001", fmt::format("unknown subcommand '{}'", command),
                 DidYouMean(command, commands, "`trunkline --help` lists them"));
  }
  const std::vector<std::string> flags = FlagNames(*app.get_subcommand(command));
  // Each verb of `fabric` has a page of its own.
  const bool is_verb =
      command == "fabric" && arguments.size() > 1 &&
      std::ranges::find(FabricVerbs(), arguments[1], &FabricVerb::name) != FabricVerbs().end();
  const std::string page = is_verb ? command + " " + arguments[1] : command;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--") break;
    const bool is_short = argument.size() > 1 && argument[0] == '-' &&
                          std::isalpha(static_cast<unsigned char>(argument[1])) != 0;
    if (!argument.starts_with("--") && !is_short) continue;
    // The value of a short flag may follow without a space: -b8.
    const std::string flag = argument.substr(0, is_short ? 2 : argument.find('='));
    const CLI::Option* option = app.get_subcommand(command)->get_option_no_throw(flag);
    if (option != nullptr && option->get_items_expected_max() == 0 && argument != flag) {
      return Error("TL1002", fmt::format("'{}': {} takes no value", argument, flag),
                   fmt::format("write {} alone, or leave it out", flag));
    }
    const bool alone = i + 1 == arguments.size() || std::ranges::count(flags, arguments[i + 1]) > 0;
    if (option != nullptr && option->get_items_expected_min() > 0 && argument == flag && alone) {
      return Error("TL1002", fmt::format("{} needs a value", flag),
                   fmt::format("write {} {}", flag, option->get_type_name()));
    }
    if (std::ranges::find(flags, flag) == flags.end()) {
      return Error("TL1001", fmt::format("unknown flag '{}' of `trunkline {}`", flag, command),
                   DidYouMean(flag, flags, fmt::format("`trunkline {} --help` lists them", page)));
    }
  }
  return {};
}

bool Assigns(const std::vector<Assignment>& assignments, std::string_view key) {
  return std::ranges::any_of(assignments, [key](const Assignment& assignment) {
    return assignment.text.starts_with(key) && assignment.text.substr(key.size(), 1) == "=";
  });
}

// What a collective runs on when no scenario says it.
Result<void> FinishCluster(CollectiveCommand& command, const CollectiveFlags& own) {
  std::vector<Assignment>& given = command.flags.assignments;
  std::vector<Assignment> set;  // before those of --set, which may change what flags say
  const auto assign = [&set](const char* key, const std::string& value, const char* flag) {
    if (!value.empty()) set.push_back({fmt::format("{}={}", key, value), flag, false, value});
  };
  if (LooksLikeFabricSpec(own.fabric) && !own.routing.empty()) {  // there, routing is a key
    const char* link = own.fabric.find(':') == std::string::npos ? ":" : ",";
    assign("cluster.fabric", own.fabric + link + "routing=" + own.routing, "--fabric");
  } else {
    assign("cluster.fabric", own.fabric, "--fabric");
    // A fabric that --set names as a whole has its routing after it.
    const auto whole = std::find_if(given.rbegin(), given.rend(), [](const Assignment& assignment) {
      return assignment.text.starts_with("cluster.fabric=");
    });
    if (whole != given.rend() && !own.routing.empty()) {
      given.insert(whole.base(), {fmt::format("cluster.fabric.routing={}", own.routing),
                                  "--routing", false, own.routing});
    } else {
      assign("cluster.fabric.routing", own.routing, "--routing");
    }
  }
  const bool has_cluster = !command.scenario.empty() || !own.fabric.empty() ||
                           Assigns(given, "cluster.node") || Assigns(given, "cluster.fabric");
  // Plain hosts are as many as ranks; with other hosts, the ranks may be fewer.
  if (has_cluster || Assigns(given, "cluster.nodes") || Assigns(given, "cluster")) {
    assign("workload.collective.ranks", own.ranks, "--ranks");
  }
  if (!has_cluster && own.ranks.empty()) {
    return Error(
        "TL1002", "nothing says where the collective runs",
        "add --node dgx-h100 --nodes 8, or --ranks 64 for plain hosts, or --scenario FILE");
  }
  if (!has_cluster) assign("cluster.nodes", own.ranks, "--ranks");
  given.insert(given.begin(), set.begin(), set.end());
  return {};
}

// -b, -e and -f as the keys of `workload.collective`.
Result<void> FinishCollective(CollectiveCommand& command, const CollectiveFlags& own) {
  std::vector<Assignment>& set = command.flags.assignments;
  // In place of whatever a scenario given with --scenario runs.
  set.insert(set.begin(), {{"workload={}", "OP", false, own.op},
                           {"workload.collective.primitive=" + own.op, "OP", false, own.op}});
  if (own.begin.empty() && own.end.empty() && ParsePrimitive(own.op) &&
      *ParsePrimitive(own.op) != Primitive::kBarrier) {
    return Error("TL1002", "no size is given", "add -b 8 -e 8G -f 2, or -b 1G alone");
  }
  const std::string end = own.end.empty() ? own.begin : own.end;
  const std::array sizes = {std::tuple("--minbytes", "from", own.begin.empty() ? end : own.begin),
                            std::tuple("--maxbytes", "to", end)};
  for (const auto& [label, key, text] : sizes) {
    if (text.empty()) continue;
    const UnitResult<Bytes> size = ParseNcclTestsSize(text);
    if (!size) {
      return std::unexpected(Diagnostics{{.code = "TL1002",
                                          .where = {label, 1, 1},
                                          .message = size.error().message,
                                          .hint = size.error().hint,
                                          .excerpt = text}});
    }
    set.push_back(
        {fmt::format("workload.collective.{}={} B", key, size->count()), label, false, text});
  }
  if (own.factor > 0) {
    set.push_back({fmt::format("workload.collective.factor={}", own.factor), "--stepfactor"});
  }
  return {};
}

Diagnostic UsageError(const CLI::App& app, const CLI::ParseError& error) {
  const auto chosen = app.get_subcommands();
  Diagnostic diagnostic;
  diagnostic.code = "TL1002";
  diagnostic.message = error.what();
  std::ranges::replace(diagnostic.message, '\n', ' ');
  diagnostic.hint = chosen.empty()
                        ? "see `trunkline --help`"
                        : fmt::format("see `trunkline {} --help`", chosen.front()->get_name());
  return diagnostic;
}

}  // namespace

Result<Command> ParseCommandLine(const std::vector<std::string>& arguments) {
  CLI::App app("How long a training step takes on a network, why, and what to change.",
               "trunkline");
  app.footer(
      "Examples:\n"
      "  trunkline run examples/llama3.1-70b-512xh100.yaml\n"
      "  trunkline collective allreduce --node dgx-h100 --nodes 8 -b 8 -e 8G -f 2\n"
      "  trunkline fabric fat-tree:k=16\n");
  app.set_version_flag("--version", std::string("trunkline ") + kVersion);
  app.require_subcommand(1);

  RunCommand run;
  CollectiveCommand collective;
  CollectiveFlags collective_flags;
  FabricCommand fabric;
  CatalogCommand catalog;
  ExplainCommand explain;
  DefineRun(app, run);
  DefineCollective(app, collective, collective_flags);
  DefineFabric(app, fabric);
  DefineCatalog(app, catalog);
  DefineExplain(app, explain);

  if (arguments.empty()) return PrintCommand{app.help()};
  if (const Result<void> words = CheckWords(app, arguments); !words) {
    return std::unexpected(words.error());
  }
  if (const Result<void> full = CheckEmpty(arguments); !full) return std::unexpected(full.error());
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    return PrintCommand{HelpOf(app, arguments)};
  } catch (const CLI::CallForVersion& version) {
    return PrintCommand{std::string(version.what()) + "\n"};
  } catch (const CLI::ParseError& error) {
    return std::unexpected(Diagnostics{UsageError(app, error)});
  }
  if (app.got_subcommand("run")) return run;
  if (app.got_subcommand("collective")) {
    if (const auto done = FinishCluster(collective, collective_flags); !done) {
      return std::unexpected(done.error());
    }
    if (const auto done = FinishCollective(collective, collective_flags); !done) {
      return std::unexpected(done.error());
    }
    return collective;
  }
  if (app.got_subcommand("fabric")) return fabric;
  if (app.got_subcommand("catalog")) return catalog;
  return explain;
}

}  // namespace trunkline
