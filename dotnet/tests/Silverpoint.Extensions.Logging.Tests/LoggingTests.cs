using System;
using System.Collections.Generic;
using System.Linq;

/// What ILogger writes, as it is recorded.
static class LoggingTests
{
    static List<Dictionary<string, object>> Made(string program, string filter = "trace") =>
        Recorded.Records(Recorded.Program(program, filter: filter).File).Where(one => one.ContainsKey("category") && ((string)one["category"]).StartsWith("Shop")).ToList();

    static string Arguments(Dictionary<string, object> record)
    {
        object arguments;
        if (!record.TryGetValue("args", out arguments)) return "";
        return arguments is Dictionary<string, object> named ? string.Join(" ", named.Select(one => one.Key + "=" + Text(one.Value)).ToArray()) : string.Join(" ", ((List<object>)arguments).Select(Text).ToArray());
    }

    static string Text(object value) => value switch
    {
        List<object> list => "[" + string.Join(",", list.Select(Text).ToArray()) + "]",
        Dictionary<string, object> map => "{" + string.Join(",", map.Select(one => one.Key + ":" + Text(one.Value)).ToArray()) + "}",
        null => "null",
        true => "true",
        false => "false",
        _ => value.ToString(),
    };

    static string Fields(Dictionary<string, object> record)
    {
        object context;
        return record.TryGetValue("context", out context) ? Text(context) : "";
    }

    static string Lines(IEnumerable<string> lines) => string.Join("\n", lines.ToArray());

    public static void TextsAreThoseOfTheFormatter()
    {
        Ended ended = Recorded.Program("Texts");
        string[] wanted = ended.Output.Split('\n').Where(line => line.Length > 0).ToArray();
        Check.That(wanted.Length >= 3 * 36, ended.Output);
        Check.Same(Lines(wanted), Lines(Recorded.Records(ended.File).Select(one => (string)one["message"])), "messages");
    }

    // Readers show it behind the message.
    static string WithoutEvent(string message) => System.Text.RegularExpressions.Regex.Replace(message, " event=[0-9]+$", "");

    public static void DefinedMessagesAreThoseOfTheFormatter()
    {
        Ended ended = Recorded.Program("Defined");
        string[] wanted = ended.Output.Split('\n').Where(line => line.Length > 0).ToArray();
        List<Dictionary<string, object>> found = Recorded.Records(ended.File);
        Check.Same(30, wanted.Length, "messages that the program has printed");
        for (int i = 0; i < wanted.Length; ++i) Check.Same(wanted[i], WithoutEvent((string)found[i]["message"]), "message " + i);
        Check.Same("A=-128 B=255 C=-32768 D=65535 E=4294967295 F=18446744073709551615 event=3", Arguments(found[0]), "integers");
        Check.Same("A=(null) B=-9223372036854775808 C= event=5", Arguments(found[7]), "texts");
        Check.Same("{:04X} {:.2f} {:d} {:x} {} {}", (string)found[9]["template"], "formats");
        Check.Same("A=255 B=0.25 C=7 D=11 E=e F=6 event=5", Arguments(found[9]), "values with formats");
    }

    public static void ThreadsRecordTheSameMessagesAtOnce()
    {
        List<Dictionary<string, object>> found = Made("Threads");
        Check.Same(8 * 200 * 24, found.Count, "records");
        Check.Same(24, found.Select(one => (string)one["template"]).Distinct().Count(), "templates");
        foreach (Dictionary<string, object> one in found)
        {
            var arguments = (Dictionary<string, object>)one["args"];
            int message = int.Parse(((string)one["message"]).Split(' ')[1]);
            string wanted = "message " + message + " of " + Text(arguments["Thread"]) + " in round " + Text(arguments["Round"]) + " x", number = message % 3 == 0 ? "" : " event=" + message % 3;
            Check.Same(wanted + number, (string)one["message"], "a message");
            Check.That(Arguments(one).EndsWith(" Text=x" + number), Arguments(one));
        }
    }

    public static void ValuesAreTypedAndNamed()
    {
        List<Dictionary<string, object>> found = Made("Typed");
        Check.Same("order {} at {} by {}", (string)found[0]["template"], "the template of a defined message");
        Check.Same("Id=7 Price=101.25 Who=Ann event=12", Arguments(found[0]), "its arguments");
        Check.Same("Id=8 Price=1.5 Who=(null) event=12", Arguments(found[1]), "and the next");
        Check.Same("order {} at {:.2f}", (string)found[2]["template"], "a format");
        Check.Same("Id=9 Price=0.25", Arguments(found[2]), "the value with a format");
        Check.Same("{} items of {}", (string)found[3]["template"], "the template of LogInformation");
        Check.Same("Count=3 Name=box", Arguments(found[3]), "its arguments");
        Check.Same("Shop.Orders,Shop.Orders,Shop.Orders,Shop.Orders,Shop.Orders", string.Join(",", found.Select(one => (string)one["category"]).ToArray()), "the category");
        Check.Same("info,warn,debug,error,fatal", string.Join(",", found.Select(one => ((string)one["level"]).ToLowerInvariant()).ToArray()), "levels");
        Check.Same("A=1 B=2 C=3 D=4 E=5 F=6 G=seven Extra=True event=99", Arguments(found[4]), "a list of more values than the template has");
    }

    public static void ExceptionsAreValues()
    {
        List<Dictionary<string, object>> found = Made("Exceptions");
        Check.Same(3, found.Count, "records");
        foreach (Dictionary<string, object> one in found)
        {
            string arguments = Arguments(one);
            Check.That(arguments.Contains("exception={type:System.InvalidOperationException,message:no stock,stack:"), arguments);
        }
        Check.That(Arguments(found[1]).Contains("Id=7"), Arguments(found[1]));
    }

    public static void ScopesAreContexts() => Check.Same(Lines(
    [
        "in a text {scope:a text}", "in a template {Id:7,Who:Ann}", "in a dictionary {Order:7,Ids:1, 2}", "nested {Order:7,Step:pay}", "by a tracepoint {Order:7}", "behind an await {Order:7}", "none ",
        "thrown {scope:<error: InvalidOperationException>}", "endless ok",
    ]), Lines(Made("ScopesOfLoggers").Select(one => one["message"] + " " + ((string)one["message"] == "endless" && Fields(one).Length > 100 ? "ok" : Fields(one)))), "records and their contexts");

    public static void IdsOfActivitiesAreFieldsWhereTheFactoryTracksThem()
    {
        if (Library.Options == null) throw new Skipped("this version of Microsoft.Extensions.Logging tracks no activities");
        Ended ended = Recorded.Program("Tracking");
        Check.Same(ended.Output.TrimEnd(), Lines(Recorded.Records(ended.File).Select(one => one["message"] + " " + Fields(one))), "records and their contexts");
    }

    public static void DirectivesSwitchCategoriesAndLevels()
    {
        Check.Same("Debug False, Information True, None False\n", Recorded.Program("Switches", filter: "info").Output, "IsEnabled with info");
        Check.Same("Debug True, Information True, None False\n", Recorded.Program("Switches", filter: "trace").Output, "IsEnabled with trace");
        Check.Same("Debug False, Information False, None False\n", Recorded.Program("Switches", filter: "off").Output, "IsEnabled with off");
        Check.Same("one", string.Join(",", Made("Switches", "Shop.One=info,off").Select(one => (string)one["message"]).ToArray()), "records of one category");
    }

    public static void NothingThatIsThrownGetsOut()
    {
        List<Dictionary<string, object>> found = Made("Hostile");
        Check.Same(Lines(
        [
            "<error: InvalidOperationException>", "<error: InvalidOperationException>", "<error: FormatException>", "the formatter's own", "a list that lies", "<error: InvalidOperationException> event=5", "no formatter", "unbalanced {0", "end",
        ]), Lines(found.Select(one => (string)one["message"])), "messages");
    }

    public static void TemplatesAreBounded()
    {
        List<Dictionary<string, object>> found = Made("ManyTemplates");
        Check.Same(3040, found.Count, "records");
        for (int i = 0; i < 3000; ++i) Check.Same("made at run time " + i + " with " + i, (string)found[i]["message"], "message " + i);
        int sites = found.Take(3000).Select(one => (string)one["template"]).Distinct().Count();
        Check.That(sites > 900 && sites <= 1001, sites + " templates");
        // Values of the first 16 types are typed, those of the last three are in a text.
        Check.Same(34, found.Skip(3000).Count(one => Arguments(one).StartsWith("Value=")), "typed values of one template");
    }

    public static void MessagesThatAreKnownMakeNoGarbage() => Check.Same("0 bytes while on, 0 bytes while off, 0 bytes beside the caller's boxes\n", Recorded.Program("Allocations", filter: "info").Output, "garbage");

    public static void AddSilverpointAddsItOnce()
    {
        Check.Same("by a factory {Id} event=|", string.Join("|", Made("Factory").Select(one => ((string)one["message"]).Replace("7", "{Id}") + " event=" + (Arguments(one).Contains("event=") ? "there" : "")).ToArray()) + "|", "records");
    }
}
